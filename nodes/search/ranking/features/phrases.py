"""Features of string literals that the text quotes, such as error messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nodes.search.index import lookup
from nodes.search.index.columns import grouped
from nodes.search.ranking.features.table import zero_scores

if TYPE_CHECKING:
    import numpy.typing as npt

    from nodes.search.index import Index
    from nodes.search.issue.query import Parsed
    from nodes.search.ranking.features.table import Features

    Floats = npt.NDArray[np.float64]
    Flags = npt.NDArray[np.bool_]

ENOUGH_SHINGLES = 3.0  # the rarity of three unique runs of three words means a message quoted in full


def add_phrases(features: Features, index: Index, parsed: Parsed, ranked: Flags) -> None:
    """Add features for files with string literals that share three consecutive words with the text: error messages."""
    query = np.asarray(sorted(parsed.shingles), np.uint32)
    place, exact = lookup(query, index.string_hash)
    rows = np.flatnonzero(exact & ranked[index.string_file])
    keys, _ = grouped(index.string_file[rows].astype(np.int64) << 32 | place[rows])
    files_with = np.bincount(keys & 0xFFFFFFFF, minlength=len(query))
    total = np.bincount(keys >> 32, 1 / np.maximum(1, files_with[keys & 0xFFFFFFFF]), len(index.paths))
    features.files["phrase"] = np.minimum(1.0, total / ENOUGH_SHINGLES)
    chunks = zero_scores(index)
    # A message that many files contain identifies no place.
    for row in rows[files_with[place[rows]] <= 3]:
        number, line = index.string_file[row], index.string_line[row]
        chunks[(index.chunk_file == number) & (index.chunk_start <= line) & (line <= index.chunk_end)] += 1
    features.chunks["phrase"] = np.minimum(1.0, chunks / ENOUGH_SHINGLES)
