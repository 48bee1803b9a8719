"""Which commits changed the places in question: the lines as they stand, and what stood there before."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nodes.search.history.log import Log
    from nodes.search.history.printed import Blamed
    from nodes.search.history.types import Spot

MOST_LINES = 300
"""Lines of one place that are followed; of a longer one, those around its focus."""
MOST_CHANGES = 100
"""Changes of one place that are followed back."""
AT_ONCE = 4


@dataclass(frozen=True, slots=True)
class Touched:
    """Who changed one place."""

    spot: Spot
    lines: dict[int, str]
    """By 1-based line: the SHA that wrote it; older lines are absent."""
    changed: frozenset[str] | None
    """Commits that changed what stood at the places in this file; None where that was not asked, or not readable."""
    paths: tuple[str, ...]
    """What the file was called on the way, its name now first."""


@dataclass(frozen=True, slots=True)
class Depth:
    """How far back lines are followed; None is the beginning of history."""

    since: str | None
    """The commit after which lines are followed as they stand."""
    replaced: int = 0
    """In how many files to ask too for what no longer stands there, which costs as much again."""
    replaced_since: str | None = None


def read_touched(log: Log, spots: Sequence[Spot], depth: Depth) -> list[Touched] | None:
    """Who changed each place; None where the history lacks the files, as in a partial clone."""
    windows = [window(spot) for spot in spots]
    by_path: dict[str, list[tuple[int, int]]] = {}
    for spot, lines in zip(spots, windows, strict=True):
        by_path.setdefault(spot.path, []).append(lines)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        blames = pool.map(lambda item: log.blame(item[0], item[1], depth.since), by_path.items())
        # One walk for all places of a file: the walk is what costs.
        tasks = {
            path: pool.submit(log.of_lines, path, ranges, depth.replaced_since, MOST_CHANGES)
            for path, ranges in islice(by_path.items(), depth.replaced)
        }
        blamed = dict(zip(by_path, blames, strict=True))
        walked = {path: task.result() for path, task in tasks.items()}
    changed = {path: frozenset(found) - log.ignored for path, found in walked.items() if found is not None}
    if any(found is None for found in blamed.values()):
        return None
    return [
        _touched(spot, lines, blamed[spot.path], changed.get(spot.path))
        for spot, lines in zip(spots, windows, strict=True)
    ]


def window(spot: Spot) -> tuple[int, int]:
    """The lines of a place that are followed (1-based, inclusive)."""
    if spot.end_line - spot.start_line < MOST_LINES:
        return spot.start_line, spot.end_line
    middle = (spot.focus[0] + spot.focus[1]) // 2
    first = max(spot.start_line, min(middle - MOST_LINES // 2, spot.end_line - MOST_LINES + 1))
    return first, first + MOST_LINES - 1


def _touched(spot: Spot, lines: tuple[int, int], found: Blamed | None, changed: frozenset[str] | None) -> Touched:
    wrote = found.lines if found else {}
    here = {number: sha for number, sha in wrote.items() if lines[0] <= number <= lines[1]}
    paths = dict.fromkeys((spot.path, *(found.paths if found else ())))
    return Touched(spot, here, changed, tuple(paths))
