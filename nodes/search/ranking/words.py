"""Features of words: BM25 scores of files, chunks and paths, and of the definitions of the best files.

A word that names the subject of a file is rare in the repository and in nearly every function of that file. So the
inverse document frequencies of definitions count the definitions of the best files only.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from nodes.search.index.columns import Array, Flags, Floats, Ints, grouped
from nodes.search.index.index import Index, Matches, lookup
from nodes.search.issue.query import Parsed
from nodes.search.ranking.features import Features, best_of_file, divided_by_best, scaled
from nodes.search.tokens import hashes_of, term_hash

# Files differ more in length than functions, so their counts saturate later and their lengths are normalised more.
K1_FILE, B_FILE = 2.0, 0.75
K1_PART, B_PART = 2.0, 0.7
K1_CHUNK, B_CHUNK = 1.2, 0.4
CONTAINERS = frozenset({"class", "interface", "enum", "module", "type"})
"""Kinds whose own lines are mostly attributes; their behaviour is in their members."""


def add_words(features: Features, index: Index, parsed: Parsed, ranked: Flags) -> None:
    """Add BM25 features of files, best chunks and paths, with the frequencies of the files marked in ``ranked``."""
    hashes = sorted({term_hash(term) for field in parsed.terms.values() for term in field})
    place = {value: number for number, value in enumerate(hashes)}
    weights = {name: np.zeros(len(hashes)) for name in parsed.terms}
    worth = np.ones(len(hashes))
    for name, field in parsed.terms.items():
        for term, weight in field.items():
            weights[name][place[term_hash(term)]] += weight
            worth[place[term_hash(term)]] = parsed.worth[term]
    matches = index.match(hashes)
    file, numbers, count = _by_owner(index.chunk_file[matches.chunk], matches, len(hashes))
    idf = rarity(np.bincount(numbers[ranked[file]], minlength=len(hashes)), int(ranked.sum()))
    # Rarity in the code alone overrates words that only issues use, such as "reproduce" (``nodes.search.issue.query``).
    informativeness = idf * worth
    in_files = informativeness[numbers] * saturate(count, relative(index.file_length)[file], K1_FILE, B_FILE)
    longer = relative(index.chunk_length)[matches.chunk]
    in_parts = informativeness[matches.term] * saturate(matches.counts, longer, K1_PART, B_PART)
    in_chunks = informativeness[matches.term] * saturate(matches.counts, longer, K1_CHUNK, B_CHUNK)
    path_term, positions = lookup(np.array(hashes, np.uint32), index.path_hash)
    on_path, path_term = index.path_file[positions], path_term[positions]
    # Without saturation and length: a path rarely repeats a word, and only its last ``TAIL`` parts are indexed.
    in_paths = idf[path_term]
    size, chunks = len(index.paths), len(index.chunk_file)
    in_ranked, every, parts = ranked[index.chunk_file], np.zeros(chunks), np.zeros(chunks)
    paths = {}
    for name, by in weights.items():
        of_parts = added(matches.chunk, in_parts * by[matches.term], chunks)
        of_chunks = added(matches.chunk, in_chunks * by[matches.term], chunks)
        paths[name] = added(on_path, in_paths * by[path_term], size)
        every, parts = every + of_chunks, parts + of_parts
        features.files[f"{name}_file"] = scaled(added(file, in_files * by[numbers], size), ranked)
        features.files[f"{name}_chunk"] = scaled(best_of_file(size, index.chunk_file, of_parts), ranked)
        features.chunks[f"{name}_words"] = scaled(of_chunks, in_ranked)
    features.files["words_chunk"] = scaled(best_of_file(size, index.chunk_file, parts), ranked)
    features.chunks["words"] = scaled(every, in_ranked)
    features.files["path_title"] = scaled(paths["title"], ranked)
    features.files["path_body"] = scaled(paths["prose"] + paths["code"], ranked)


def _by_owner(owner: Ints, matches: Matches, terms: int) -> tuple[Ints, Ints, Floats]:
    """Sum the matches per owner and term. Return the owner, the term and the count of each sum."""
    keys = owner.astype(np.int64) * max(1, terms) + matches.term
    distinct, row = grouped(keys)
    return distinct // max(1, terms), distinct % max(1, terms), added(row, matches.counts, len(distinct))


def added(rows: Ints, values: Array, size: int) -> Floats:
    """Sum the values per row."""
    return np.bincount(rows, values, size).astype(np.float64)


def rarity(files_with: Ints, files: int) -> Floats:
    """Return the inverse document frequency, never negative."""
    return np.asarray(np.log(1 + (files - np.minimum(files_with, files) + 0.5) / (files_with + 0.5)))


def relative(lengths: Array) -> Floats:
    """Return lengths as multiples of the mean of the non-zero ones."""
    some = lengths[lengths > 0]
    return np.asarray(lengths / (some.mean() if len(some) else 1.0))


def saturate(count: Array, length: Floats, k1: float, b: float) -> Floats:
    """Return term weights that grow less with each occurrence and shrink with the length of the text (BM25's k1, b)."""
    return np.asarray(count * (k1 + 1) / (count + k1 * (1 - b + b * length)))


@dataclass(frozen=True)
class FileDefinitions:
    """The definitions of some files. All arrays but ``chunks`` and ``place`` have one entry per definition."""

    index: Index
    chunks: Ints
    """The chunks of these definitions."""
    place: Ints
    """For each chunk, the position of its definition."""
    definitions: Ints
    names: tuple[str, ...]
    """Dotted names."""
    contains: Flags
    """Whether the definition is a class or another container."""

    @classmethod
    def of(cls, index: Index, files: Iterable[int]) -> Self:
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


def add_functions(features: Features, parsed: Parsed, candidates: FileDefinitions) -> None:
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


def _words(candidates: FileDefinitions, last: Sequence[str], parsed: Parsed) -> dict[str, Floats]:
    """Score definitions by the words of their text and of their name, with frequencies among themselves."""
    weights: dict[int, float] = defaultdict(float)
    for word, weight in parsed.weights.items():
        weights[term_hash(word)] += weight
    hashes = sorted(weights)
    index = candidates.index
    place = np.zeros(len(index.chunk_file), np.int64)
    place[candidates.chunks] = candidates.place
    matches = index.match(hashes, candidates.chunks)
    definition, term, count = _by_owner(place[matches.chunk], matches, len(hashes))
    size = len(candidates.definitions)
    lengths = added(candidates.place, index.chunk_length[candidates.chunks], size).astype(np.int32)
    idf = rarity(np.bincount(term, minlength=len(hashes)), size)
    rare = idf * np.array([weights[value] for value in hashes])
    scores = rare[term] * saturate(count, relative(lengths)[definition], K1_CHUNK, B_CHUNK)
    of_words = dict(zip(hashes, idf.tolist(), strict=True))
    title = {key: of_words[key] for key in map(term_hash, parsed.terms["title"])}
    among = added(definition, scores, size)
    best = best_of_file(len(index.paths), candidates.files, among)
    return {
        "words_among": among / np.maximum(best[candidates.files], 1e-9),
        "name_title": divided_by_best(_rarity_of_names(last, title)),
        "name_body": divided_by_best(_rarity_of_names(last, of_words)),
    }


def _rarity_of_names(last: Sequence[str], rare: Mapping[int, float]) -> Floats:
    """Return the summed rarity of the query's terms that each name consists of."""
    return np.array([sum(rare.get(term, 0.0) for term in set(hashes_of(name))) for name in last])
