"""Sketch a file in a few lines: what it is, its best places, the signatures of what it defines, its neighbours."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nodes.search.reading.snippets import line_score
from nodes.search.types import FileSketch, Location, PlaceSketch, Signature

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nodes.search.index import Index

PLACES, MATCHES = 3, 2
"""Places of a file, and lines of a place, that a sketch shows."""
SIGNATURES, SIBLINGS = 120, 8
LONGEST = 120
"""Characters of a line."""
_SAME = 30
"""Characters after which a line counts as the signature that is shown above it."""
_HEADER = 40
"""Lines at the start of a file in which its description is looked for."""
_MARKS = re.compile(r"^(?:\s|[/*#;!%]|--|<!--|\"\"\"|'''|[rRuUbB](?=[\"']))+|(?:\*/|-->|\"\"\"|''')\s*$")
_COMMENT = re.compile(r"^\s*(?:#|//|/\*|\*|--|;|%|<!--|[rRuUbB]?\"\"\"|[rRuUbB]?'''|[rRuUbB]?\"[A-Z])")
_LEGAL = re.compile(
    r"copyright|licen[sc]e|spdx|all rights reserved|coding[:=]|eslint|^@|https?://|author|file in the root"
    r"|^(?:include|ifn?def|pragma|define) ",
    re.IGNORECASE,
)
_WORD = re.compile(r"[A-Za-z]{2,}")


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
    signatures = _signatures(source)
    lines = {(one.symbol, one.start_line): one.text for one in signatures}
    return FileSketch(
        path=source.path,
        about=_about(source.lines),
        places=tuple(_place(source, place, lines) for place in places[:PLACES]),
        signatures=signatures[:SIGNATURES],
        names=_names(source, signatures, {place.symbol for place in places[:PLACES]}),
        siblings=_siblings(source.index, source.path),
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


def _signatures(source: Source) -> tuple[Signature, ...]:
    """Return the first line of each definition, in the order of the file."""
    index, number = source.index, source.index.number_of[source.path]
    rows = np.flatnonzero(index.def_file == number).tolist()
    names = index.meta(number).names
    found = []
    for row in rows:
        name = names[row - int(index.first_def[number])]
        start, end = int(index.def_start[row]), int(index.def_end[row])
        found.append(Signature(name, start, end, _first_line(source.lines, name, start, end)))
    return tuple(found)


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


def _names(source: Source, signatures: Sequence[Signature], shown: set[str | None]) -> tuple[str, ...]:
    """Return the names that share most with the query first, then in the order of the file."""
    others = [one.symbol for one in signatures if one.symbol not in shown]
    return tuple(sorted(dict.fromkeys(others), key=lambda name: -line_score(name, source.weights))[:SIBLINGS])


def _about(lines: Sequence[str]) -> str:
    """Return the first line of prose in a file's docstring or header comment; empty if there is none."""
    inside = ""
    for line in lines[:_HEADER]:
        text = line.strip()
        opened = re.match(r"[rRuUbB]{0,2}(\"\"\"|''')", text)
        comment = bool(inside or opened or _COMMENT.match(line))
        if text and not comment:
            return ""
        if opened and text.count(opened[1]) == 1 and not inside:
            inside = opened[1]
        elif inside and inside in text:
            inside = ""
        prose = _MARKS.sub("", text).strip(" \"'")
        if comment and len(_WORD.findall(prose)) >= 2 and not _LEGAL.search(prose) and not text.startswith("#!"):
            return prose[:LONGEST]
    return ""


def _siblings(index: Index, path: str) -> tuple[str, ...]:
    """Return the names of other files of the same folder, those of the same kind first."""
    folder = index.names.folder
    number = index.number_of[path]
    role, others = index.roles[number], np.flatnonzero(folder == folder[number]).tolist()
    same = sorted((other for other in others if other != number), key=lambda other: (index.roles[other] != role, other))
    return tuple(index.paths[other].rpartition("/")[2] for other in same[:SIBLINGS])


def _trimmed(line: str) -> str:
    return " ".join(line.split())[:LONGEST]
