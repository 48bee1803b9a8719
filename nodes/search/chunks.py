"""A file in function-sized pieces: what is ranked is a piece, not a file, so that long files do not win by length."""

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
"""Lines of a piece where no definition says where to cut."""
LARGEST = 120
"""Lines from which a definition is cut as well."""
DEEPEST = 3  # a closure inside a method still counts as the method's text from here on


@dataclass(frozen=True, slots=True)
class Chunks:
    """Lines that belong to one definition, or to none: one row each, file by file, from the first line to the last."""

    file: Ints
    start: Ints
    """1-based."""
    end: Ints
    """1-based, inclusive."""
    definition: Ints
    """Number, in its file, of the innermost definition that owns these lines, or -1."""


def cut_chunks(definitions: Sequence[Sequence[Definition]], lines: Sequence[int]) -> Chunks:
    """Give each line of some files to exactly one chunk, each chunk to the innermost definition around it.

    Args:
        definitions: of each file, an outer one before those inside it.
        lines: how many each file has.
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
    """Make a chunk of each run of lines with the same owner, and even pieces of a run that is too long."""
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
