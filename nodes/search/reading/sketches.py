"""Sketch a file in a few lines: its best places, their first lines, and the lines that match."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nodes.search.reading.snippets import line_score
from nodes.search.types import FileSketch, Location, PlaceSketch

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nodes.search.index import Index

PLACES, MATCHES = 3, 2
"""Places of a file, and lines of a place, that a sketch shows."""
LONGEST = 120
"""Characters of a line."""
_SAME = 30
"""Characters after which a line counts as the signature that is shown above it."""


@dataclass(frozen=True, slots=True)
class Source:
    """A file of the index with its lines, and the weights of the query's terms."""

    index: Index
    path: str
    lines: Sequence[str]
    """With their line endings."""
    weights: Mapping[str, float]


def sketch(source: Source, places: Sequence[Location]) -> FileSketch:
    """Return what a reader needs to judge whether a file may be at fault.

    Args:
        source: the file.
        places: its places, best first.
    """
    lines = _signatures(source)
    return FileSketch(
        path=source.path,
        places=tuple(_place(source, place, lines) for place in places[:PLACES]),
    )


def _place(source: Source, place: Location, signatures: Mapping[tuple[str, int], str]) -> PlaceSketch:
    signature = signatures.get((place.symbol or "", place.start_line), "")
    lines = range(place.start_line, min(place.end_line, len(source.lines)) + 1)
    # Outside definitions comments are mostly licences, which share words with any text.
    numbered = [number for number in lines if signature or not _is_aside(source.lines[number - 1])]
    scored = [(line_score(source.lines[number - 1], source.weights), number) for number in numbered]
    best = sorted(scored, key=lambda item: (-item[0], item[1]))[: MATCHES + 1]
    texts = [
        (number, _trimmed(source.lines[number - 1])) for score, number in sorted(best, key=lambda x: x[1]) if score
    ]
    matches = tuple((number, text) for number, text in texts if text[:_SAME] not in signature)[:MATCHES]
    return PlaceSketch(place, signature, matches)


def _signatures(source: Source) -> dict[tuple[str, int], str]:
    """Return the first line of each definition, by its name and first line number."""
    index, number = source.index, source.index.number_of[source.path]
    rows = np.flatnonzero(index.def_file == number).tolist()
    names = index.meta(number).names
    found = {}
    for row in rows:
        name = names[row - int(index.first_def[number])]
        start, end = int(index.def_start[row]), int(index.def_end[row])
        found[name, start] = _first_line(source.lines, name, start, end)
    return found


def _first_line(lines: Sequence[str], name: str, start: int, end: int) -> str:
    """Return the line that has a definition's name; decorators and annotations precede it."""
    last = re.split(r"\W+", name)[-1]
    span = lines[start - 1 : min(end, start + 10)]
    at = next((number for number, line in enumerate(span) if last and last in line and not _is_aside(line)), 0)
    text = _trimmed(span[at]) if span else ""
    # A signature over several lines is joined until its bracket closes.
    for line in span[at + 1 : at + 6]:
        if text.count("(") <= text.count(")"):
            break
        text = f"{text} {_trimmed(line)}"
    return text[:LONGEST].rstrip(" {:")


def _is_aside(line: str) -> bool:
    return line.lstrip().startswith(("@", "#", "//", "*", "/*"))


def _trimmed(line: str) -> str:
    return " ".join(line.split())[:LONGEST]
