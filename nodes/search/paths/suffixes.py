"""Maps paths, modules and file stems in a text to files of a commit by their longest common suffix."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

PACKAGE_FILES = frozenset({"__init__", "index", "mod", "lib", "main"})
"""Stems of files that represent their folder."""
AMBIGUOUS = 8  # a suffix that matches more files identifies none of them
SEPARATORS = re.compile(r"[./\\:]+")


class PathIndex:
    """The files of a commit by their names."""

    def __init__(self, paths: Sequence[str]) -> None:
        self.paths = paths

    @cached_property
    def by_name(self) -> dict[str, list[int]]:
        """Files by base name."""
        found = defaultdict(list)
        for number, path in enumerate(self.paths):
            found[path.rpartition("/")[2]].append(number)
        return dict(found)

    @cached_property
    def by_module_tail(self) -> dict[str, list[int]]:
        """Files by the last part of their module name: the stem, or the folder of a package file."""
        found = defaultdict(list)
        for number, parts in enumerate(self.modules):
            if parts:
                found[parts[-1]].append(number)
        return dict(found)

    @cached_property
    def modules(self) -> list[list[str]]:
        """The parts of each file's module name; equal parts are one string, because folders repeat in many paths."""
        one: dict[str, str] = {}
        return [[one.setdefault(part, part) for part in module_parts(path)] for path in self.paths]

    @cached_property
    def by_stem(self) -> dict[str, list[int]]:
        """Files by lowercased stem."""
        found = defaultdict(list)
        for number, path in enumerate(self.paths):
            name = path.rpartition("/")[2].lower()
            found[name.rpartition(".")[0] or name].append(number)
        return dict(found)

    @cached_property
    def folder(self) -> npt.NDArray[np.int64]:
        """The number of each file's folder."""
        numbers: dict[str, int] = {}
        found = [numbers.setdefault(path.rpartition("/")[0], len(numbers)) for path in self.paths]
        return np.array(found, np.int64)

    def with_suffix(self, written: str) -> list[tuple[int, int]]:
        """Return (file, shared parts) for the files that share the longest tail with a path as written."""
        parts = written.replace("\\", "/").strip("/.").split("/")
        shared = [
            (number, common_tail(parts, self.paths[number].split("/"))) for number in self.by_name.get(parts[-1], ())
        ]
        longest = max((length for _, length in shared), default=0)
        best = [(number, length) for number, length in shared if length == longest]
        return best if len(best) <= AMBIGUOUS else []

    def of_module(self, dotted: str) -> list[tuple[int, int]]:
        """Return (file, parts used) for the longest prefix of a dotted name that is a module.

        A prefix of one part is not enough: too many modules are called ``test`` or ``core``.
        """
        parts = [part for part in SEPARATORS.split(dotted) if part]
        # The longest prefix first: in ``package.module.Class.method`` the last parts are names inside the module.
        for used in range(len(parts), 1, -1):
            found = [
                number
                for number in self.by_module_tail.get(parts[used - 1], ())
                if common_tail(parts[:used], self.modules[number]) == used
            ]
            if 0 < len(found) <= AMBIGUOUS:
                return [(number, used) for number in found]
        return []


def module_parts(path: str) -> list[str]:
    """Split a path into the parts of its module name."""
    parts = path.split("/")
    # At the first dot, so that ``types.d.ts`` and ``parser.test.js`` have the stems ``types`` and ``parser``.
    stem = parts[-1].partition(".")[0]
    return parts[:-1] if stem in PACKAGE_FILES and len(parts) > 1 else [*parts[:-1], stem]


def common_tail(left: Sequence[str], right: Sequence[str]) -> int:
    """Count the equal parts at the end of two sequences."""
    count = 0
    for one, other in zip(reversed(left), reversed(right), strict=False):
        if one != other:
            break
        count += 1
    return count
