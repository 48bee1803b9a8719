"""Features of the definitions of the best files, which are compared with each other and not with the whole repository.

A word that names the subject of a file is rare in the repository and in nearly every function of that file. So the
inverse document frequencies here count the definitions of the best files only.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from nodes.search.index.columns import grouped
from nodes.search.ranking.features.bm25 import B_CHUNK, K1_CHUNK, added, rarity, relative, saturate
from nodes.search.ranking.features.table import divided_by_best
from nodes.search.tokens import hashes_of, term_hash

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy.typing as npt

    from nodes.search.index import Index
    from nodes.search.issue.query import Parsed
    from nodes.search.ranking.features.table import Features

    Floats = npt.NDArray[np.float64]
    Ints = npt.NDArray[np.signedinteger]

CONTAINERS = frozenset({"class", "interface", "enum", "module", "type"})
"""Kinds whose own lines are mostly attributes; their behaviour is in their members."""


@dataclass(frozen=True)
class Candidates:
    """The definitions of some files. All arrays but ``chunks`` and ``place`` have one entry per definition."""

    index: Index
    chunks: Ints
    """The chunks of these definitions."""
    place: Ints
    """For each chunk, the position of its definition."""
    definitions: Ints
    names: tuple[str, ...]
    """Dotted names."""
    contains: npt.NDArray[np.bool_]
    """Whether the definition is a class or another container."""

    @classmethod
    def of(cls, index: Index, files: Iterable[int]) -> Candidates:
        """Collect the definitions of files."""
        inside = np.isin(index.chunk_file, list(files)) & (index.chunk_def >= 0)
        chunks = np.flatnonzero(inside)
        definitions, place = grouped(index.chunk_def[chunks].astype(np.int64))
        owners = index.def_file[definitions].tolist()
        metas = {number: index.meta(number) for number in dict.fromkeys(owners)}
        rows = (definitions - index.first_def[index.def_file[definitions]]).tolist()
        names = [metas[number].names[row] for number, row in zip(owners, rows, strict=True)]
        kinds = [metas[number].kinds[row] in CONTAINERS for number, row in zip(owners, rows, strict=True)]
        return cls(index, chunks, place, definitions, tuple(names), np.array(kinds, bool))

    @cached_property
    def files(self) -> Ints:
        """The file of each definition."""
        return np.asarray(self.index.def_file[self.definitions])

    def spread(self, values: Floats) -> Floats:
        """Give each chunk of the index the value of its definition, 0 to the chunks of other files."""
        spread = np.zeros(len(self.index.chunk_file))
        spread[self.chunks] = values[self.place]
        return spread


def add_functions(features: Features, parsed: Parsed, candidates: Candidates) -> None:
    """Add features to the chunks of the best files: the kind of their definition, and its words and name."""
    last = [name.rpartition(".")[2] for name in candidates.names]
    roles = candidates.index.roles
    found = {
        "container": candidates.contains.astype(float),
        "dunder": np.array([name.startswith("__") and name.endswith("__") for name in last], float),
        "role_other": np.array([roles[number] != "source" for number in candidates.files.tolist()], float),
        **_words(candidates, last, parsed),
    }
    features.chunks |= {name: candidates.spread(values) for name, values in found.items()}


def _words(candidates: Candidates, last: Sequence[str], parsed: Parsed) -> dict[str, Floats]:
    """Score definitions by the words of their text and of their name, with frequencies among themselves."""
    weights: dict[int, float] = defaultdict(float)
    for word, weight in parsed.weights.items():
        weights[term_hash(word)] += weight
    hashes = sorted(weights)
    definition, term, count = _counts(candidates, hashes)
    size = len(candidates.definitions)
    lengths = added(candidates.place, candidates.index.chunk_length[candidates.chunks], size).astype(np.int32)
    idf = rarity(np.bincount(term, minlength=len(hashes)), size)
    rare = idf * np.array([weights[value] for value in hashes])
    scores = rare[term] * saturate(count, relative(lengths)[definition], K1_CHUNK, B_CHUNK)
    of_words = dict(zip(hashes, idf.tolist(), strict=True))
    title = {key: of_words[key] for key in map(term_hash, parsed.terms["title"])}
    return {
        "words_among": _relative_to_file(candidates, added(definition, scores, size)),
        "name_title": divided_by_best(_rarity_of_names(last, title)),
        "name_body": divided_by_best(_rarity_of_names(last, of_words)),
    }


def _counts(candidates: Candidates, hashes: Sequence[int]) -> tuple[Ints, Ints, Floats]:
    """Count terms by definition. Return the definition's position, the term's position and the count of each pair."""
    index = candidates.index
    place = np.zeros(len(index.chunk_file), np.int64)
    place[candidates.chunks] = candidates.place
    matches = index.match(hashes, candidates.chunks)
    pairs = place[matches.chunk] * max(1, len(hashes)) + matches.term
    distinct, row = grouped(pairs)
    counts = added(row, matches.counts, len(distinct))
    return distinct // max(1, len(hashes)), distinct % max(1, len(hashes)), counts


def _relative_to_file(candidates: Candidates, scores: Floats) -> Floats:
    best = np.zeros(len(candidates.index.paths))
    np.maximum.at(best, candidates.files, scores)
    return scores / np.maximum(best[candidates.files], 1e-9)


def _rarity_of_names(last: Sequence[str], rare: Mapping[int, float]) -> Floats:
    """Return the summed rarity of the query's terms that each name consists of."""
    return np.array([sum(rare.get(term, 0.0) for term in set(hashes_of(name))) for name in last])
