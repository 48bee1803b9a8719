"""Build the places whose history is read, and find the commits that changed them: current and replaced lines."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from nodes.search.history.types import Spot
from nodes.search.paths.roles import role_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nodes.search.history.log import Log
    from nodes.search.history.printed import Blamed
    from nodes.search.history.types import Spot
    from nodes.search.index import Index
    from nodes.search.types import Location

_NOT_AT_FAULT = frozenset({"test", "docs", "example", "vendored", "minified"})
MAX_LINES = 300
"""The maximum number of lines followed per place; of a longer place, the lines around its focus."""
MAX_CHANGES = 100
"""The maximum number of changes followed per place."""
AT_ONCE = 4


def spots_of(locations: Sequence[Location]) -> list[Spot]:
    """Convert ranked places, weighted by score relative to the first; tests count only if there is nothing else."""
    # A change of a test or a document does not introduce a fault.
    locations = [place for place in locations if role_of(place.path) not in _NOT_AT_FAULT] or locations
    best = max((place.score for place in locations), default=0.0)
    return [
        Spot(
            place.path,
            place.start_line,
            place.end_line,
            focus=(place.quote_start, place.quote_end),
            symbol=place.symbol,
            weight=max(0.0, place.score / best) if best > 0 else 0.0,
        )
        for place in locations
    ]


def widened(index: Index, spot: Spot) -> Spot:
    """Widen a place to the innermost definition that contains all lines in focus; unchanged if there is none."""
    number = index.number_of.get(spot.path)
    if number is None:
        return spot
    first, last = spot.focus
    inside = (index.def_file == number) & (index.def_start <= first) & (index.def_end >= last)
    rows = np.flatnonzero(inside)
    if not len(rows):
        return spot
    row = int(rows[np.argmin(index.def_end[rows] - index.def_start[rows])])
    start, end = int(index.def_start[row]), int(index.def_end[row])
    return replace(spot, start_line=start, end_line=end, symbol=index.name_of(row))


@dataclass(frozen=True, slots=True)
class Touched:
    """The commits that changed one place."""

    spot: Spot
    lines: dict[int, str]
    """Maps a 1-based line to the SHA that wrote it; older lines are absent."""
    changed: frozenset[str] | None
    """Commits that ever changed the lines of the places in this file; None if not requested or unreadable."""
    paths: tuple[str, ...]
    """The file's names over time, the current name first."""


@dataclass(frozen=True, slots=True)
class Depth:
    """The depth to which lines are followed; None means the beginning of history."""

    since: str | None
    """The current lines are followed back to this commit."""
    replaced: int = 0
    """The number of files for which replaced lines are also followed, which doubles the cost."""
    replaced_since: str | None = None


def read_touched(log: Log, spots: Sequence[Spot], depth: Depth) -> list[Touched] | None:
    """Return the commits that changed each place; None if the files' history is missing, as in a partial clone."""
    windows = [window(spot) for spot in spots]
    by_path: dict[str, list[tuple[int, int]]] = {}
    for spot, lines in zip(spots, windows, strict=True):
        by_path.setdefault(spot.path, []).append(lines)
    # Threads suffice: each only waits for a git process.
    with ThreadPoolExecutor(AT_ONCE) as pool:
        blames = pool.map(lambda item: log.blame(item[0], item[1], depth.since), by_path.items())
        # One walk covers all places of a file, because the walk is the main cost.
        tasks = {
            path: pool.submit(log.of_lines, path, ranges, depth.replaced_since, MAX_CHANGES)
            for path, ranges in islice(by_path.items(), depth.replaced)
        }
        blamed = dict(zip(by_path, blames, strict=True))
        walked = {path: task.result() for path, task in tasks.items()}
    changed = {path: frozenset(found) - log.ignored for path, found in walked.items() if found is not None}
    # The places of an unreadable file would seem unchanged, so none is compared by its lines.
    if any(found is None for found in blamed.values()):
        return None
    return [
        _touched(spot, lines, blamed[spot.path], changed.get(spot.path))
        for spot, lines in zip(spots, windows, strict=True)
    ]


def window(spot: Spot) -> tuple[int, int]:
    """Return the lines of a place that are followed (1-based, inclusive)."""
    if spot.end_line - spot.start_line < MAX_LINES:
        return spot.start_line, spot.end_line
    middle = (spot.focus[0] + spot.focus[1]) // 2
    first = max(spot.start_line, min(middle - MAX_LINES // 2, spot.end_line - MAX_LINES + 1))
    return first, first + MAX_LINES - 1


def _touched(spot: Spot, lines: tuple[int, int], found: Blamed | None, changed: frozenset[str] | None) -> Touched:
    authors = found.lines if found else {}
    in_window = {number: sha for number, sha in authors.items() if lines[0] <= number <= lines[1]}
    paths = dict.fromkeys((spot.path, *(found.paths if found else ())))
    return Touched(spot, in_window, changed, tuple(paths))
