"""The ranking of one query at one commit, from its index to ranked files, quoted places and sketches."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from nodes.search.git import Repository
from nodes.search.git.objects import decode, split_lines
from nodes.search.index.columns import Floats
from nodes.search.index.index import Index
from nodes.search.issue.query import Parsed
from nodes.search.ranking.features import Features, add_priors, candidate_files
from nodes.search.ranking.naming import add_names, add_phrases, add_symbols, add_title_symbols, add_trace
from nodes.search.ranking.rank import (
    RIVALS,
    Place,
    best_files,
    confidence,
    explain,
    load_weights,
    rank_places,
    signs,
    weighted,
)
from nodes.search.ranking.surroundings import add_context_features, add_past
from nodes.search.ranking.words import FileDefinitions, add_functions, add_words
from nodes.search.reading.snippets import locate_places, sketch
from nodes.search.types import FileHit, FileSketch, Location, Query, Ranking

LEADS = 5
"""Number of files whose best place is always in a ranking, even if places of other files score higher."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A query and the features of a commit's files and chunks for it."""

    repository: Repository
    index: Index
    parsed: Parsed
    features: Features

    @classmethod
    def of(cls, repository: Repository, index: Index, parsed: Parsed) -> Self:
        """Compute the features of each file and chunk alone, then those of the surroundings of the best ones."""
        features = _measure(index, parsed)
        # The surroundings of the likely files are measured, so a first pass with weights of its own determines these.
        first = load_weights().first
        files = weighted(features.files, first["files"], len(index.paths))
        chunks = weighted(features.chunks, first["chunks"], len(index.chunk_file))
        measured = cls(repository, index, parsed, features)
        add_context_features(features, index, (files, chunks), measured.read_chunks)
        return measured

    def read_chunks(self, chunks: Sequence[int]) -> dict[int, str]:
        """Return the text of chunks."""
        index = self.index
        wanted = dict.fromkeys(index.blobs[index.chunk_file[chunk]] for chunk in chunks)
        lines = {blob: split_lines(decode(content)) for blob, content in self.repository.read(wanted)}
        texts = {}
        for chunk in chunks:
            of_file = lines.get(index.blobs[index.chunk_file[chunk]], [])
            texts[chunk] = "".join(of_file[index.chunk_start[chunk] - 1 : index.chunk_end[chunk]])
        return texts

    def locate(self, places: Sequence[Place]) -> tuple[Location, ...]:
        """Return places with the lines to quote."""
        return locate_places(self.repository, self.index, self.parsed, places)

    def best_places(self, files: list[int], scores: Floats) -> list[Place]:
        """Return the places of some files, best first."""
        add_functions(self.features, self.parsed, FileDefinitions.of(self.index, files))
        return rank_places(self.index, self.features, load_weights(), files, scores)


def rank(measured: Measured, query: Query, sha: str, began: float) -> Ranking:
    """Rank the files and places of a commit; ``began`` is when the search began, by ``time.perf_counter``."""
    index, features, weights = measured.index, measured.features, load_weights()
    scores = weighted(features.files, weights.files, len(index.paths))
    ignored = index.matching(query.ignore)
    files = best_files(scores, index, query.limit, ignored)
    places = measured.best_places(files, scores)
    ranked = time.perf_counter()
    locations = measured.locate(places[: query.limit])
    # A lead's location may be among those.
    known = {location.path: location for location in reversed(locations)}
    first = {index.paths[index.chunk_file[place.chunk]]: place for place in reversed(places)}
    wanted = [index.paths[number] for number in files[:LEADS]]
    others = measured.locate([first[path] for path in wanted if path in first and path not in known])
    known |= {location.path: location for location in others}
    reasons = {n: explain(features.files, weights.files, n, features.notes) for n in files[: query.limit]}
    hits = tuple(FileHit(index.paths[number], float(scores[number]), reasons[number]) for number in reasons)
    seconds = {"rank": ranked - began, "quote": time.perf_counter() - ranked}
    # Independent of the query's limit, which may be below the number of rivals.
    best = best_files(scores, index, RIVALS, ignored)
    sure = 0.0
    if best and scores[best[0]] > 0:
        columns = {name: values[best] for name, values in features.files.items()}
        sure = confidence(signs([float(scores[n]) for n in best], columns, weights.files), weights.confidence)
    return Ranking(sha, hits, locations, sure, seconds, tuple(known[path] for path in wanted if path in known))


def sketch_files(measured: Measured, paths: Sequence[str]) -> tuple[FileSketch, ...]:
    """Return sketches of the files whose paths are, or alone end with, the given ones, in their order."""
    index, repository = measured.index, measured.repository
    scores = weighted(measured.features.files, load_weights().files, len(index.paths))
    files = list(dict.fromkeys(number for path in paths if (number := _file_named(index, path)) is not None))
    places: dict[str, list[Location]] = {}
    for location in measured.locate(measured.best_places(files, scores)):
        places.setdefault(location.path, []).append(location)
    contents = dict(repository.read(sorted({index.blobs[number] for number in files})))
    found = []
    for number in files:
        if (content := contents.get(index.blobs[number])) is not None:
            path, lines = index.paths[number], split_lines(decode(content))
            found.append(sketch(path, lines, places.get(path, ()), measured.parsed.weights))
    return tuple(found)


def _measure(index: Index, parsed: Parsed) -> Features:
    """Compute the features of each file and chunk of a commit for a query, each file and chunk alone."""
    ranked = candidate_files(index, parsed)
    features = Features()
    add_words(features, index, parsed, ranked)
    add_symbols(features, index, parsed, ranked)
    add_title_symbols(features, index, parsed, ranked)
    add_names(features, index.names, parsed, ranked)
    add_trace(features, index, parsed)
    add_phrases(features, index, parsed, ranked)
    add_past(features, index, parsed)
    add_priors(features, index, ranked)
    return features


def _file_named(index: Index, path: str) -> int | None:
    """Return the file of that path, or the only one whose path ends with it."""
    if path in index.number_of:
        return index.number_of[path]
    parts = len(path.strip("/.").split("/"))
    whole = [number for number, shared in index.names.with_suffix(path) if shared == parts]
    return whole[0] if len(whole) == 1 else None
