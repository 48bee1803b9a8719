"""Cuts files into function-sized chunks. Chunks are ranked instead of files, so that long files gain no advantage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nodes.search.columns import starts

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from nodes.search.types import Definition

    Ints = npt.NDArray[np.int64]

PIECE = 60
"""Maximum lines of a chunk outside definitions, and of each part of a run that is cut."""
LARGEST = 120
"""A definition with more lines is cut into parts as well."""
DEEPEST = 3  # definitions nested deeper, such as a closure inside a method, belong to the definition around them


@dataclass(frozen=True, slots=True)
class Chunks:
    """Lines that belong to one definition or to none: one row per chunk, ordered by file and line, without gaps."""

    file: Ints
    start: Ints
    """First line, 1-based."""
    end: Ints
    """Last line, 1-based and inclusive."""
    definition: Ints
    """Number, within its file, of the innermost definition that owns the lines, or -1."""


def cut_chunks(definitions: Sequence[Sequence[Definition]], lines: Sequence[int]) -> Chunks:
    """Assign each line to exactly one chunk, and each chunk to the innermost definition around it.

    Args:
        definitions: for each file, its definitions; an outer one precedes those inside it.
        lines: for each file, its number of lines.
    """
    first_line = starts(np.asarray(lines, np.int64))
    owner = np.full(int(first_line[-1]), -1, np.int64)
    for file, of_file in enumerate(definitions):
        before = int(first_line[file]) - 1
        for number, one in enumerate(of_file):
            if one.name.count(".") < DEEPEST:
                owner[before + max(1, one.start_line) : before + min(lines[file], one.end_line) + 1] = number
    return _pieces(owner, np.repeat(np.arange(len(lines)), lines), first_line)


def _pieces(owner: Ints, file: Ints, first_line: Ints) -> Chunks:
    """Make one chunk of each run of lines with the same owner; cut a run that is too long into even parts."""
    new = np.ones(len(owner), bool)
    new[1:] = (owner[1:] != owner[:-1]) | (file[1:] != file[:-1])
    run = np.flatnonzero(new)
    size = np.diff(run, append=len(owner))
    long = size > np.where(owner[run] >= 0, LARGEST, PIECE)
    count = np.where(long, -(-size // PIECE), 1)
    number = np.arange(count.sum()) - np.repeat(starts(count)[:-1], count)
    run, size, count = (np.repeat(values, count) for values in (run, size, count))
    first = run - first_line[file[run]] + 1
    return Chunks(file[run], first + size * number // count, first + size * (number + 1) // count - 1, owner[run])
