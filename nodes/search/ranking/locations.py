"""Locate ranked places: the definition that contains each, and a quote of its matching lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nodes.search.git.objects import decode, split_lines
from nodes.search.reading.snippets import quote
from nodes.search.types import Location

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nodes.search.git import Repository
    from nodes.search.index import Index
    from nodes.search.issue.query import Parsed
    from nodes.search.ranking.rank import Place


def locate_places(
    repository: Repository, index: Index, parsed: Parsed, places: Sequence[Place]
) -> tuple[Location, ...]:
    """Return the locations of ranked places; places whose file cannot be read are left out."""
    wanted = sorted({index.paths[index.chunk_file[place.chunk]] for place in places})
    blobs = {path: index.blobs[index.number_of[path]] for path in wanted}
    contents = dict(repository.read(sorted(set(blobs.values()))))
    lines = {path: split_lines(decode(contents[blob])) for path, blob in blobs.items() if blob in contents}
    weights = parsed.weights
    return tuple(
        locate(index, place, lines[path], weights)
        for place in places
        if (path := index.paths[index.chunk_file[place.chunk]]) in lines
    )


def locate(index: Index, place: Place, lines: list[str], weights: dict[str, float]) -> Location:
    """Convert a ranked chunk to a location: the whole definition, with a quote of the chunk's matching lines."""
    owner = int(index.chunk_def[place.chunk])
    start, end = int(index.chunk_start[place.chunk]), int(index.chunk_end[place.chunk])
    quoted = quote(lines, start, end, weights)
    symbol = None
    if owner >= 0:
        symbol = index.name_of(owner)
        start, end = int(index.def_start[owner]), int(index.def_end[owner])
    path = index.paths[index.chunk_file[place.chunk]]
    end = max(start, min(end, len(lines)))
    return Location(path, start, end, symbol, place.score, quoted.text, quoted.start, quoted.end, place.reasons)
