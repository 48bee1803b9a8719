"""Features of word similarity: BM25 of files, of their best chunk and of their paths."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nodes.search.features.bm25 import best_chunk
from nodes.search.features.table import scaled
from nodes.search.query import FIELDS

if TYPE_CHECKING:
    import numpy.typing as npt

    from nodes.search.features.bm25 import Words
    from nodes.search.features.table import Features
    from nodes.search.index import Index

    Floats = npt.NDArray[np.float64]
    Flags = npt.NDArray[np.bool_]


def add_words(features: Features, index: Index, words: Words, ranked: Flags) -> None:
    """Add BM25 features of files, of their best chunk and of their paths."""
    every = np.asarray(sum(words.chunks.values(), np.zeros(len(index.chunk_file))))
    features.similarity = every
    parts = np.asarray(sum(words.parts.values(), np.zeros(len(index.chunk_file))))
    in_ranked = ranked[index.chunk_file]
    for name in FIELDS:
        features.files[f"{name}_file"] = scaled(words.files[name], ranked)
        features.files[f"{name}_chunk"] = scaled(best_chunk(index, words.parts[name]), ranked)
        features.chunks[f"{name}_words"] = scaled(words.chunks[name], in_ranked)
    features.files["words_chunk"] = scaled(best_chunk(index, parts), ranked)
    features.chunks["words"] = scaled(every, in_ranked)
    features.files["path_title"] = scaled(words.paths["title"], ranked)
    features.files["path_body"] = scaled(words.paths["prose"] + words.paths["code"], ranked)
