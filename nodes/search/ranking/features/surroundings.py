"""The second pass: features of what surrounds the likeliest files and functions of the first pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nodes.search.index import lookup
from nodes.search.ranking.features.bridges import bridge_chunks, follow_bridges
from nodes.search.ranking.features.calls import called, callers, likely_chunks
from nodes.search.ranking.features.neighbours import likely_files, neighbour_scores, siblings
from nodes.search.ranking.features.past import change_together
from nodes.search.ranking.features.table import best_of_file, divided_by_best, of_definitions
from nodes.search.tokens import STOPWORDS, WORD, term_hash

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from nodes.search.index import Index

    Flags = npt.NDArray[np.bool_]
    from collections.abc import Callable, Sequence

    from nodes.search.ranking.features.table import Features

    Floats = npt.NDArray[np.float64]
    ReadChunks = Callable[[Sequence[int]], Mapping[int, str]]

SHORTEST = 4  # letters; shorter names are loop variables more often than references
SAME_NAME = 4  # definitions that share a name; if there are more, the name identifies none of them


def definitions_in_texts(index: Index, texts: Mapping[int, str], ranked: Flags) -> dict[int, dict[int, float]]:
    """Return for each text the definitions in ranked files that it names, weighted by how few share the name."""
    words = {key: {word for word in WORD.findall(text) if _may_name(word)} for key, text in texts.items()}
    every = sorted({term_hash(word) for mentions in words.values() for word in mentions})
    place, exact = lookup(np.asarray(every, np.uint32), index.def_last)
    rows = np.flatnonzero(exact & ranked[index.def_file]) if len(index.def_last) else np.zeros(0, np.int64)
    by_hash: dict[int, list[int]] = {}
    for row in rows.tolist():
        by_hash.setdefault(every[place[row]], []).append(row)
    return {
        key: {
            row: 1 / len(found)
            for word in sorted(mentions)
            if 0 < len(found := by_hash.get(term_hash(word), ())) <= SAME_NAME
            for row in found
        }
        for key, mentions in words.items()
    }


def _may_name(word: str) -> bool:
    return SHORTEST <= len(word) <= 64 and word.lower() not in STOPWORDS


@dataclass(frozen=True, slots=True)
class FirstPass:
    """The result of the first pass."""

    files: Floats
    """The first score of every file."""
    chunks: Floats
    """The first score of every chunk."""


def add_context_features(features: Features, index: Index, first: FirstPass, read_chunks: ReadChunks) -> None:
    """Add the features that depend on a first ranking.

    Args:
        features: the features of each file and chunk alone; this function adds to them.
        index: the commit's files.
        first: the first ranking.
        read_chunks: returns the text of chunks.
    """
    likely = likely_files(first.files)
    features.files["neighbour"] = neighbour_scores(index, index.names, likely)
    features.files["siblings"] = siblings(first.files, index.names.folder)
    features.files["cochange"] = divided_by_best(change_together(index.changes, likely, len(index.paths)))
    ranked = np.array([role == "source" for role in index.roles], bool)
    # Texts of all chunks are read at once below: one git process for both features.
    bridges = bridge_chunks(index, features.similarity)
    # A chunk inherits its file's score, because a likely file has likely functions.
    best = likely_chunks(np.where(ranked[index.chunk_file], first.chunks + first.files[index.chunk_file], -np.inf))
    mentions = definitions_in_texts(index, read_chunks(sorted({*best, *bridges})), ranked)
    features.files["bridge"] = follow_bridges(index, index.names, features.similarity, bridges, mentions)
    features.chunks["called"] = divided_by_best(of_definitions(index, called(index, best, mentions)))
    features.chunks["caller"] = divided_by_best(callers(index, best))
    features.files["calls"] = best_of_file(index, np.maximum(features.chunks["called"], features.chunks["caller"]))
