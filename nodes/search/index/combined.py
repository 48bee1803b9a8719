"""Recognise files that a tool combined from other files of the commit, such as a single header or a bundle.

Such a file contains every definition of its sources, so it matches each query at least as well as the source that has
to be fixed. Its path and its first lines often do not state how it was made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nodes.search.index.columns import grouped

if TYPE_CHECKING:
    import numpy.typing as npt

    from nodes.search.index.columns import Columns

    Numbers = npt.NDArray[np.int64]

LEAST = 30
"""Minimum number of definitions of a combined file; smaller files may share names by chance."""
LEAST_OF_PART = 3
_SPAN_BITS = 12
_KEY_BITS = 32 + _SPAN_BITS
"""The hash of a definition's name, and its line count."""
LONGEST = (1 << _SPAN_BITS) - 1
"""Maximum line count of a definition that is distinguished; longer definitions count as this long."""
PARTS = 3
"""Minimum number of files that a combined file contains."""
HELD = 0.8
"""Minimum share of a part's definitions in the combined file; tools drop some, for example includes and tests."""
COVERED = 0.6
"""Minimum share of a combined file's definitions that its parts have."""
MAX_CANDIDATES = 40
"""Maximum number of candidates of a commit, the largest first, so that many copies of one file cost little time."""
SMALLER = 0.7
"""Maximum size of a part relative to the combined file, so that versions of one file are not parts of each other."""


def combined_files(columns: Columns, sources: npt.NDArray[np.bool_]) -> Numbers:
    """Return the numbers of source files that consist of the definitions of other source files.

    Args:
        columns: the data of all files.
        sources: for each file, whether its role is source.
    """
    owner, values = columns.owners("definition"), columns.values
    span = values["def_end"].astype(np.int64) - values["def_start"]
    # Declarations of one or two lines, such as those of an interface, are similar in unrelated files.
    row = np.flatnonzero((span >= 2) & sources[owner])
    key = (values["def_last"][row].astype(np.int64) << _SPAN_BITS) | np.minimum(span[row], LONGEST)
    # File and key in one number, for which 19 bits are left: a listing has at most 200,000 files.
    pair, _ = grouped(owner[row].astype(np.int64) << _KEY_BITS | key)
    file = pair >> _KEY_BITS
    keys, group = grouped(pair & ((1 << _KEY_BITS) - 1))
    files_with = np.bincount(group, minlength=len(keys))
    size = np.bincount(file, minlength=len(sources))
    shared = np.bincount(file, files_with[group] > 1, len(sources))
    candidates = np.flatnonzero((size >= LEAST) & (shared >= COVERED * size))
    largest = candidates[np.argsort(-size[candidates], kind="stable")][:MAX_CANDIDATES]
    return np.sort([one for one in largest.tolist() if _is_combined(one, file, group, size)]).astype(np.int64)


def _is_combined(one: int, file: Numbers, group: Numbers, size: Numbers) -> bool:
    mine = np.zeros(int(group.max()) + 1, bool)
    start, end = np.searchsorted(file, [one, one + 1])
    mine[group[start:end]] = True
    held = np.bincount(file[mine[group]], minlength=len(size))
    is_part = (size >= LEAST_OF_PART) & (held >= HELD * size) & (size < SMALLER * size[one])
    if is_part.sum() < PARTS:
        return False
    covered = np.zeros(len(mine), bool)
    covered[group[is_part[file]]] = True
    return bool(covered[group[start:end]].mean() >= COVERED)
