"""The project's small data set: issues about six small repositories in six languages, and the sample's."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.support.repositories import make_repository

HERE = Path(__file__).parent
SAMPLE = HERE.parents[1] / "docs" / "demo" / "repository"


def read_issues() -> list[dict[str, Any]]:
    """Read the issues with their fixes."""
    return [json.loads(line) for line in (HERE / "issues.jsonl").read_text(encoding="utf-8").splitlines()]


def build_repositories(folder: Path) -> dict[str, tuple[Path, str]]:
    """Commit all small repositories below a folder; return (path, commit) by name."""
    built = {}
    for name, files in _repositories():
        path = folder / name
        path.mkdir(parents=True, exist_ok=True)
        built[name] = (path, make_repository(path, files))
    return built


def _repositories() -> Iterator[tuple[str, dict[str, str]]]:
    for listing in sorted((HERE / "small").glob("*.txt")):
        yield listing.stem, _files(listing.read_text(encoding="utf-8"))
    sample = sorted(path for path in SAMPLE.rglob("*") if path.is_file() and path.suffix in {".py", ".md"})
    yield "feedbox", {path.relative_to(SAMPLE).as_posix(): path.read_text(encoding="utf-8") for path in sample}


def _files(listing: str) -> dict[str, str]:
    """Split a listing into files: ``=== path``, then the content."""
    parts = ("\n" + listing).split("\n=== ")[1:]
    return {path: text.strip("\n") + "\n" for path, _, text in (part.partition("\n") for part in parts)}
