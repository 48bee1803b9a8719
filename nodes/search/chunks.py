"""A file in function-sized pieces: what is ranked is a piece, not a file, so that long files do not win by length."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nodes.search.types import Definition

PIECE = 60
"""Lines of a piece where no definition says where to cut."""
LARGEST = 120
"""Lines from which a definition is cut as well."""
DEEPEST = 3  # a closure inside a method still counts as the method's text from here on


@dataclass(frozen=True, slots=True)
class Chunk:
    """Lines that belong to one definition, or to none."""

    start: int
    """1-based."""
    end: int
    """1-based, inclusive."""
    definition: int
    """Index of the innermost definition that owns these lines, or -1."""


def cut_chunks(definitions: Sequence[Definition], lines: int) -> list[Chunk]:
    """Give each line to exactly one chunk, each chunk to the innermost definition around it."""
    owners = [-1] * (lines + 1)
    for index, definition in enumerate(definitions):
        if definition.name.count(".") >= DEEPEST:
            continue
        first, last = max(1, definition.start_line), min(lines, definition.end_line)
        owners[first : last + 1] = [index] * max(0, last - first + 1)
    return [chunk for start, end, owner in runs(owners) for chunk in pieces(start, end, owner)]


def runs(owners: list[int]) -> Iterator[tuple[int, int, int]]:
    """Yield (start, end, owner) for each run of lines with the same owner."""
    start = 1
    for line in range(1, len(owners)):
        if line + 1 == len(owners) or owners[line + 1] != owners[line]:
            yield start, line, owners[line]
            start = line + 1


def pieces(start: int, end: int, owner: int) -> Iterator[Chunk]:
    """Cut a run that is too long into even pieces."""
    size = end - start + 1
    if size <= (LARGEST if owner >= 0 else PIECE):
        yield Chunk(start, end, owner)
        return
    count = -(-size // PIECE)
    for number in range(count):
        yield Chunk(start + size * number // count, start + size * (number + 1) // count - 1, owner)
