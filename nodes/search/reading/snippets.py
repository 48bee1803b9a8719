"""Quote the few lines of a place that share most with a query, and sketch a file for a reader in a few lines."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from nodes.search.git import Repository
from nodes.search.git.objects import cut, decode, split_lines
from nodes.search.index.index import Index
from nodes.search.issue.query import Parsed
from nodes.search.ranking.rank import Place
from nodes.search.tokens import WORD, terms_of
from nodes.search.types import FileSketch, Location, PlaceSketch

MAX_LINES = 8
MAX_BYTES = 1_000
PLACES, MATCHES = 3, 2
"""Places of a file, and lines of a place, that a sketch shows."""
MAX_LINE = 120
"""Characters of a line."""
_SAME = 30
"""Characters after which a line counts as the signature that is shown above it."""


class Quote(NamedTuple):
    """Verbatim lines."""

    text: str
    start: int
    """First line, 1-based."""
    end: int
    """Last line, 1-based and inclusive."""


def quote(lines: Sequence[str], start: int, end: int, weights: Mapping[str, float]) -> Quote:
    """Quote the lines of a place (1-based, inclusive) that share most with the query, or its first lines.

    ``lines`` is the whole file with line endings; ``weights`` has the weight of each term of the query.
    """
    start, end = max(1, start), min(end, len(lines))
    if start > end:
        return Quote("", start, start)
    scores = [line_score(line, weights) for line in lines[start - 1 : end]]
    size = min(MAX_LINES, len(scores))
    # The first of equal windows is chosen, so that the quote is deterministic.
    best = max(range(len(scores) - size + 1), key=lambda first: (sum(scores[first : first + size]), -first))
    # Without a match the first three lines show at least the signature.
    matching = [at for at in range(best, best + size) if scores[at] > 0] or range(best, min(best + size, best + 3))
    first, last = matching[0], matching[-1]
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


def sketch(path: str, lines: Sequence[str], places: Sequence[Location], weights: Mapping[str, float]) -> FileSketch:
    """Return a sketch by which a reader judges whether a file may be at fault; the best places come first.

    ``lines`` is the whole file with line endings; ``weights`` has the weight of each term of the query.
    """
    return FileSketch(path, tuple(_place(lines, place, weights) for place in places[:PLACES]))


def _place(lines: Sequence[str], place: Location, weights: Mapping[str, float]) -> PlaceSketch:
    signature = _first_line(lines, place.symbol, place.start_line, place.end_line) if place.symbol else ""
    inside = range(place.start_line, min(place.end_line, len(lines)) + 1)
    # Outside definitions comments are mostly licences, which share words with any text.
    numbered = [number for number in inside if signature or not _is_aside(lines[number - 1])]
    scored = [(line_score(lines[number - 1], weights), number) for number in numbered]
    best = sorted(scored, key=lambda item: (-item[0], item[1]))[: MATCHES + 1]
    texts = [(at, _trimmed(lines[at - 1])) for score, at in sorted(best, key=lambda found: found[1]) if score]
    matches = tuple((number, text) for number, text in texts if text[:_SAME] not in signature)[:MATCHES]
    return PlaceSketch(place, signature, matches)


def _first_line(lines: Sequence[str], name: str, start: int, end: int) -> str:
    """Return the line that has a definition's name; decorators and annotations precede it."""
    last = re.split(r"\W+", name)[-1]
    span = lines[start - 1 : min(end, start + 10)]
    at = next((number for number, line in enumerate(span) if last and last in line and not _is_aside(line)), 0)
    text = _trimmed(span[at]) if span else ""
    # A signature over several lines is joined until its bracket closes.
    for line in span[at + 1 : at + 6]:
        if text.count("(") <= text.count(")"):
            break
        text = f"{text} {_trimmed(line)}"
    return text[:MAX_LINE].rstrip(" {:")


def _is_aside(line: str) -> bool:
    return line.lstrip().startswith(("@", "#", "//", "*", "/*"))


def _trimmed(line: str) -> str:
    return " ".join(line.split())[:MAX_LINE]
