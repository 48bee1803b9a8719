"""Data of parsed files in columns, which are joined and sliced without access to single rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Ints = npt.NDArray[np.signedinteger]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.int64]

GROUPS = ("chunk", "definition", "string", "post", "meta", "mark")
"""Kinds of rows; each file has its own number of rows of each kind."""
COLUMNS = {
    "chunk_start": ("chunk", "<i4"),
    "chunk_end": ("chunk", "<i4"),
    "chunk_def": ("chunk", "<i4"),  # relative to the file's first definition; -1 for none
    "chunk_length": ("chunk", "<i4"),  # number of terms
    "chunk_posts": ("chunk", "<i4"),  # number of distinct terms
    "def_last": ("definition", "<u4"),
    "def_dotted": ("definition", "<u4"),
    "def_start": ("definition", "<i4"),
    "def_end": ("definition", "<i4"),
    "string_hash": ("string", "<u4"),
    "string_line": ("string", "<i4"),
    "post_hash": ("post", "<u4"),
    "post_count": ("post", "<u2"),  # at most MUCH
    "metas": ("meta", "u1"),
    "marks": ("mark", "u1"),
}
"""Group and type of each column."""
MUCH = (1 << 16) - 1
LEAST = 30
"""Minimum number of definitions of a combined file; smaller files may share names by chance."""
LEAST_OF_PART = 3
_SPAN_BITS = 12
_KEY_BITS = 32 + _SPAN_BITS
"""The hash of a definition's name, and its line count."""
MAX_SPAN = (1 << _SPAN_BITS) - 1
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


@dataclass(frozen=True, slots=True)
class Columns:
    """Rows of some files, in the order of the files."""

    sizes: npt.NDArray[np.int32]
    """Shape (files, groups): the number of rows of each group that a file has."""
    values: Mapping[str, Array]
    """Values by column name."""

    def __len__(self) -> int:
        """Return the number of files."""
        return len(self.sizes)

    def firsts(self, group: str) -> npt.NDArray[np.int64]:
        """Return the first row of each file, followed by the total number of rows."""
        return starts(self.sizes[:, GROUPS.index(group)])

    def owners(self, group: str) -> npt.NDArray[np.int32]:
        """Return the file number of each row."""
        return np.repeat(np.arange(len(self), dtype=np.int32), self.sizes[:, GROUPS.index(group)])


def starts(counts: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.int64]:
    """Return the start of each of some consecutive runs, followed by the end of the last one."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)])


def ranges(first: npt.NDArray[np.int64], end: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the numbers from each first one to before its end, one range after the other."""
    lengths = end - first
    return np.repeat(first - starts(lengths)[:-1], lengths) + np.arange(int(lengths.sum()))


def grouped(keys: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the sorted distinct keys, and each key's position among them: ``numpy.unique`` without its imports."""
    order = np.argsort(keys, kind="stable")
    new = np.ones(len(keys), bool)
    new[1:] = keys[order[1:]] != keys[order[:-1]]
    place = np.empty(len(keys), np.int64)
    place[order] = np.cumsum(new) - 1
    return keys[order[new]], place


def empty(files: int = 0) -> Columns:
    """Return a table of files without rows."""
    values = {name: np.zeros(0, kind) for name, (_, kind) in COLUMNS.items()}
    return Columns(np.zeros((files, len(GROUPS)), np.int32), values)


def select_files(sources: Sequence[Columns], picks: npt.NDArray[np.int64]) -> Columns:
    """Build a table from files of others: ``picks`` has the source of each, or -1 if empty, and its number there."""
    known = np.flatnonzero(picks[:, 0] >= 0)
    chosen = picks[known]
    # Neighbours that stay neighbours are copied as one run: between two commits nearly all files are.
    breaks = np.flatnonzero((np.diff(chosen[:, 0]) != 0) | (np.diff(chosen[:, 1]) != 1)) + 1
    edges = [0, *breaks.tolist(), len(chosen)] if len(chosen) else []
    runs = [(int(chosen[a, 0]), int(chosen[a, 1]), int(chosen[a, 1]) + b - a) for a, b in pairwise(edges)]
    sizes = np.zeros((len(picks), len(GROUPS)), np.int32)
    if runs:
        sizes[known] = np.concatenate([sources[whose].sizes[first:last] for whose, first, last in runs])
    values: dict[str, Array] = {}
    # One column at a time, because a hundred thousand copies of a file give a hundred thousand runs.
    for group in GROUPS:
        firsts = [source.firsts(group) for source in sources]
        cuts = [(whose, int(firsts[whose][first]), int(firsts[whose][last])) for whose, first, last in runs]
        for name in (name for name, (of, _) in COLUMNS.items() if of == group):
            nothing = np.zeros(0, COLUMNS[name][1])
            parts = (sources[whose].values[name][start:end] for whose, start, end in cuts)
            values[name] = np.concatenate([nothing, *parts])
    return Columns(sizes, values)


def combined_files(columns: Columns, sources: npt.NDArray[np.bool_]) -> Numbers:
    """Return the numbers of source files, marked by ``sources``, that consist of definitions of other source files."""
    owner, values = columns.owners("definition"), columns.values
    span = values["def_end"].astype(np.int64) - values["def_start"]
    # Declarations of one or two lines, such as those of an interface, are similar in unrelated files.
    row = np.flatnonzero((span >= 2) & sources[owner])
    key = (values["def_last"][row].astype(np.int64) << _SPAN_BITS) | np.minimum(span[row], MAX_SPAN)
    # File and key in one number, for which 19 bits are left: a listing has at most 200,000 files.
    pair, _ = grouped(owner[row].astype(np.int64) << _KEY_BITS | key)
    file = pair >> _KEY_BITS
    keys, group = grouped(pair & ((1 << _KEY_BITS) - 1))
    files_with = np.bincount(group, minlength=len(keys))
    size = np.bincount(file, minlength=len(sources))
    shared = np.bincount(file, files_with[group] > 1, len(sources))
    candidates = np.flatnonzero((size >= LEAST) & (shared >= COVERED * size))
    largest = candidates[np.argsort(-size[candidates], kind="stable")][:MAX_CANDIDATES]
    return np.sort([number for number in largest.tolist() if _is_combined(number, file, group, size)]).astype(np.int64)


def _is_combined(number: int, file: Numbers, group: Numbers, size: Numbers) -> bool:
    mine = np.zeros(int(group.max()) + 1, bool)
    start, end = np.searchsorted(file, [number, number + 1])
    mine[group[start:end]] = True
    held = np.bincount(file[mine[group]], minlength=len(size))
    is_part = (size >= LEAST_OF_PART) & (held >= HELD * size) & (size < SMALLER * size[number])
    if is_part.sum() < PARTS:
        return False
    covered = np.zeros(len(mine), bool)
    covered[group[is_part[file]]] = True
    return bool(covered[group[start:end]].mean() >= COVERED)
