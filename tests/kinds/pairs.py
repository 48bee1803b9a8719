"""Reports in text files: a title, a bar and the first sentences on each line, below the name of a part."""

from __future__ import annotations

from pathlib import Path


def paraphrases(part: str) -> list[tuple[str, str]]:
    """Return the title and body of each line of a part of the list of paraphrases."""
    return read_pairs(Path(__file__).with_name("paraphrases.txt"), part)


def read_pairs(path: Path, part: str) -> list[tuple[str, str]]:
    """Return the title and body of each line of a part of a file."""
    text = path.read_text(encoding="utf-8").partition(f"[{part}]\n")[2]
    pairs = (line.partition("|") for line in text.partition("\n[")[0].splitlines() if line)
    return [(title, body) for title, _, body in pairs]
