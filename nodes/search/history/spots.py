"""Build the places whose history is read, as wide as the definitions that contain them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from nodes.search.history.types import Spot
from nodes.search.paths.roles import role_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nodes.search.index import Index
    from nodes.search.types import Location


_NOT_AT_FAULT = frozenset({"test", "docs", "example", "vendored", "minified"})


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
