"""BM25 scores of a query's fields for files, their best chunk and their paths."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nodes.search.index import lookup
from nodes.search.index.columns import grouped
from nodes.search.issue.query import FIELDS
from nodes.search.ranking.features.table import best_of_file, scaled
from nodes.search.tokens import term_hash

if TYPE_CHECKING:
    import numpy.typing as npt

    from nodes.search.index import Index, Matches
    from nodes.search.issue.query import Parsed

    Floats = npt.NDArray[np.float64]
    from nodes.search.ranking.features.table import Features, best_of_file

    Flags = npt.NDArray[np.bool_]

# Files differ more in length than functions, so their counts saturate later and their lengths are normalised more.
K1_FILE, B_FILE = 2.0, 0.75
K1_PART, B_PART = 2.0, 0.7
K1_CHUNK, B_CHUNK = 1.2, 0.4
# Robertson, Zaragoza (2009), "The Probabilistic Relevance Framework: BM25 and Beyond".


@dataclass(frozen=True, slots=True)
class Words:
    """Scores by field of the query."""

    files: dict[str, Floats]
    """One score per file."""
    parts: dict[str, Floats]
    """One score per chunk; the scores of a file's chunks rank the file."""
    chunks: dict[str, Floats]
    """One score per chunk; they rank the chunks."""
    paths: dict[str, Floats]
    """One score per file, for the words of its path only."""


def score_words(index: Index, parsed: Parsed, ranked: npt.NDArray[np.bool_]) -> Words:
    """Score every file and chunk. The inverse document frequency counts only the files marked in ``ranked``."""
    hashes = sorted({term_hash(term) for field in parsed.terms.values() for term in field})
    place = {value: number for number, value in enumerate(hashes)}
    weights = {name: np.zeros(len(hashes)) for name in parsed.terms}
    worth = np.ones(len(hashes))
    for name, field in parsed.terms.items():
        for term, weight in field.items():
            weights[name][place[term_hash(term)]] += weight
            worth[place[term_hash(term)]] = parsed.worth[term]
    matches = index.match(hashes)
    file, numbers, count = by_file(index, matches, len(hashes))
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
    return Words(
        {name: added(file, in_files * by[numbers], size) for name, by in weights.items()},
        {name: added(matches.chunk, in_parts * by[matches.term], chunks) for name, by in weights.items()},
        {name: added(matches.chunk, in_chunks * by[matches.term], chunks) for name, by in weights.items()},
        {name: added(on_path, in_paths * by[path_term], size) for name, by in weights.items()},
    )


def by_file(index: Index, matches: Matches, terms: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], Floats]:
    """Sum the matches per file and term. Return the file, the term and the count of each sum."""
    keys = index.chunk_file[matches.chunk].astype(np.int64) * max(1, terms) + matches.term
    distinct, inverse = grouped(keys)
    return distinct // max(1, terms), distinct % max(1, terms), added(inverse, matches.counts, len(distinct))


def added(rows: npt.NDArray[np.signedinteger], values: npt.NDArray[np.int32] | Floats, size: int) -> Floats:
    """Sum the values per row."""
    return np.bincount(rows, values, size).astype(np.float64)


def rarity(files_with: npt.NDArray[np.int64], files: int) -> Floats:
    """Return the inverse document frequency, never negative."""
    return np.asarray(np.log(1 + (files - np.minimum(files_with, files) + 0.5) / (files_with + 0.5)))


def relative(lengths: npt.NDArray[np.int32]) -> Floats:
    """Return lengths as multiples of the mean of the non-zero ones."""
    some = lengths[lengths > 0]
    return np.asarray(lengths / (some.mean() if len(some) else 1.0))


def saturate(count: npt.NDArray[np.int32] | Floats, length: Floats, k1: float, b: float) -> Floats:
    """Return term weights that grow less with each occurrence and shrink with the length of the text (BM25's k1, b)."""
    return np.asarray(count * (k1 + 1) / (count + k1 * (1 - b + b * length)))


def add_words(features: Features, index: Index, words: Words, ranked: Flags) -> None:
    """Add BM25 features of files, of their best chunk and of their paths."""
    every = np.asarray(sum(words.chunks.values(), np.zeros(len(index.chunk_file))))
    parts = np.asarray(sum(words.parts.values(), np.zeros(len(index.chunk_file))))
    in_ranked = ranked[index.chunk_file]
    for name in FIELDS:
        features.files[f"{name}_file"] = scaled(words.files[name], ranked)
        features.files[f"{name}_chunk"] = scaled(best_of_file(index, words.parts[name]), ranked)
        features.chunks[f"{name}_words"] = scaled(words.chunks[name], in_ranked)
    features.files["words_chunk"] = scaled(best_of_file(index, parts), ranked)
    features.chunks["words"] = scaled(every, in_ranked)
    features.files["path_title"] = scaled(words.paths["title"], ranked)
    features.files["path_body"] = scaled(words.paths["prose"] + words.paths["code"], ranked)
