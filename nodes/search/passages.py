"""Quotes whole lines of a file within a size limit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nodes.search.git import cut
from nodes.search.types import Passage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nodes.search.index import Index


@dataclass(frozen=True, slots=True)
class Source:
    """A file whose lines were read."""

    index: Index
    number: int
    lines: Sequence[str]
    """With their line endings."""


def passage(source: Source | None, start: int, end: int, most: int) -> Passage | None:
    """Quote the lines from ``start`` (1-based) up to ``end``, as far as ``most`` bytes allow.

    Return None if the file was not read, has no such line, or its first line alone is too long.
    """
    if source is None or not 1 <= start <= end:
        return None
    size, last = 0, start - 1
    for line in source.lines[start - 1 : end]:
        size += len(line.encode("utf-8", "surrogatepass"))
        if size - line.endswith("\n") > most:
            break
        last += 1
    text = cut(list(source.lines), start, last)
    if not text or not text.strip():
        return None
    ends = min(end, len(source.lines))
    return Passage(source.index.paths[source.number], start, last, text, symbol_at(source, start), ends)


def symbol_at(source: Source, line: int) -> str | None:
    """Return the name of the innermost definition around a line."""
    index = source.index
    mine = np.flatnonzero(index.def_file == source.number)
    around = mine[(index.def_start[mine] <= line) & (index.def_end[mine] >= line)]
    return index.name_of(int(around[-1])) if len(around) else None
