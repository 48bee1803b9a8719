"""Detect possible security reports. A doubtful issue counts as one, so that the bot names no place in public."""

from __future__ import annotations

import re
from pathlib import Path

from nodes.kinds.cues import OPENING
from nodes.kinds.parts import Parts

READ = 4_000
"""Characters of prose that are searched."""


def _load() -> dict[str, list[str]]:
    """Load the lines of the text file beside this module by section."""
    named: dict[str, str] = {}
    sections: dict[str, list[str]] = {}
    for line in Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines():
        name, is_named, value = line.partition(" = ")
        if line.startswith("[") and line.endswith("]") and line[1:-1].replace("_", "").isalpha():
            sections[line[1:-1]] = []
        elif is_named and name.isupper():
            named[f"{{{name}}}"] = value
        elif line and not line.startswith("#"):
            for placeholder, meant in named.items():
                line = line.replace(placeholder, meant)  # noqa: PLW2901  the line with its names filled in
            sections[list(sections)[-1]].append(line)
    return sections


_LINES = _load()
_SECTIONS = {name: re.compile("|".join(lines)) for name, lines in _LINES.items() if name != "together"}
_TOGETHER = tuple(tuple(map(re.compile, line.split(" && "))) for line in _LINES["together"])
_SENTENCE_END = re.compile(r"[.!?]\s|\n\s*\n|[\u3002\uff01\uff1f]")
_WEAKNESS, _HARMLESS = _SECTIONS["weakness"], _SECTIONS["harmless"]
_ATTACK, _DOES_HARM = _SECTIONS["attack"], _SECTIONS["does_harm"]
_ASKS_HOW = re.compile(r"\W{0,3}(?:how|where|what|which|is there|can i|should i|do i|does anyone|best way)\b")


def may_be_security(parts: Parts) -> bool:
    """Does the title name a vulnerability, or does the body describe one together with an attack?"""
    title = _HARMLESS.sub(" ", parts.title)
    prose = _HARMLESS.sub(" ", parts.prose[:READ])
    if _DOES_HARM.search(prose) or _DOES_HARM.search(parts.whole[:READ]):
        return True
    if _WEAKNESS.search(title):
        return not (_ASKS_HOW.match(title) and title.rstrip().endswith("?"))
    return _is_described(prose) or _says_how(f"{title}\n\n{prose}")


def _says_how(text: str) -> bool:
    """Return whether a sentence says who can do what to whose things, or which check is missing.

    The title and the first sentence of the body count as one.
    """
    sentences = [sentence for sentence in _SENTENCE_END.split(text) if sentence.strip()]
    judged = (" ".join(sentences[:2]), *sentences[2:])
    return any(all(part.search(sentence) for part in parts) for sentence in judged for parts in _TOGETHER)


def _is_described(prose: str) -> bool:
    """Return whether the opening names a vulnerability and the text an attack, or the text names two of them."""
    weak = {found[0] for found in _WEAKNESS.finditer(prose)}
    if len(weak) > 1:
        return True
    begins = _WEAKNESS.search(prose[:OPENING])
    return bool(begins and (_ATTACK.search(prose.replace(begins[0], " ")) or not begins[0].isascii()))
