"""Select the few lines of a place to quote, verbatim, and the definition that contains it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nodes.search.git.objects import cut, decode, split_lines
from nodes.search.tokens import WORD, terms_of
from nodes.search.types import Location

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nodes.search.git import Repository
    from nodes.search.index import Index
    from nodes.search.issue.query import Parsed
    from nodes.search.ranking.rank import Place

MAX_LINES = 8
MAX_BYTES = 1_000


class Quote(NamedTuple):
    """Verbatim lines."""

    text: str
    start: int
    """First line, 1-based."""
    end: int
    """Last line, 1-based and inclusive."""


def quote(lines: Sequence[str], start: int, end: int, weights: Mapping[str, float]) -> Quote:
    """Quote the lines of a place that share most with the query, or its first lines if none shares anything.

    Args:
        lines: the whole file with line endings.
        start: the place's first line, 1-based.
        end: its last line, inclusive.
        weights: the weight of each term of the query.
    """
    start, end = max(1, start), min(end, len(lines))
    if start > end:
        return Quote("", start, start)
    scores = [line_score(line, weights) for line in lines[start - 1 : end]]
    size = min(MAX_LINES, len(scores))
    # The first of equal windows is chosen, so that the quote is deterministic.
    best = max(range(len(scores) - size + 1), key=lambda first: (sum(scores[first : first + size]), -first))
    first, last = trimmed(scores, best, best + size - 1)
    while last > first and len("".join(lines[start - 1 + first : start + last]).encode("utf-8", "replace")) > MAX_BYTES:
        # The line at the end that shares less with the query is removed first.
        first, last = (first + 1, last) if scores[first] < scores[last] else (first, last - 1)
    text = cut(list(lines), start + first, start + last) or ""
    if len(text.encode("utf-8", "replace")) > MAX_BYTES:  # one line of minified code, which is not worth quoting
        return Quote("", start + first, start + first)
    return Quote(text, start + first, start + last)


def line_score(line: str, weights: Mapping[str, float]) -> float:
    """Return the sum of the weights of the distinct query terms in a line."""
    terms = {term for word in WORD.findall(line[:MAX_BYTES]) for term in terms_of(word)}
    # Sorted, because the sum of floats depends on their order, and that of a set differs between processes.
    return sum(weights.get(term, 0.0) for term in sorted(terms))


def trimmed(scores: Sequence[float], first: int, last: int) -> tuple[int, int]:
    """Drop lines at both ends that share nothing with the query, unless no line shares anything."""
    matching = [number for number in range(first, last + 1) if scores[number] > 0]
    # Without a match the first three lines show at least the signature.
    return (matching[0], matching[-1]) if matching else (first, min(last, first + 2))


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
    number, start, end = (int(column[place.chunk]) for column in (index.chunk_file, index.chunk_start, index.chunk_end))
    quoted = quote(lines, start, end, weights)
    owner, symbol = int(index.chunk_def[place.chunk]), None
    if owner < 0 and (around := index.definition_at(number, quoted.start)) is not None:
        # The chunks of code without a grammar do not follow its definitions.
        owner, quoted = around, quote(lines, int(index.def_start[around]), int(index.def_end[around]), weights)
    if owner >= 0:
        symbol = index.name_of(owner)
        start, end = int(index.def_start[owner]), int(index.def_end[owner])
    end = max(start, min(end, len(lines)))
    return Location(
        index.paths[number], start, end, symbol, place.score, quoted.text, quoted.start, quoted.end, place.reasons
    )
