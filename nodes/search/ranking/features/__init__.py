"""Computes the features of each file and chunk for one query: each is about 0 to 1, and 0 if absent.

``measure`` rates each file and chunk alone. ``surroundings.add_context_features`` then rates what is near the best.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nodes.search.ranking.features.bm25 import add_words, score_words
from nodes.search.ranking.features.frames import add_trace
from nodes.search.ranking.features.naming import add_names, add_phrases, add_symbols, add_title_symbols
from nodes.search.ranking.features.past import fixed_often, recent_folder_changes, score_by_messages, similar_changes
from nodes.search.ranking.features.priors import add_priors, candidate_files
from nodes.search.ranking.features.table import Features

if TYPE_CHECKING:
    from nodes.search.index import Index
    from nodes.search.issue.query import Parsed


def measure(index: Index, parsed: Parsed) -> Features:
    """Compute the features of each file and chunk of a commit for a query, each file and chunk alone."""
    ranked = candidate_files(index, parsed)
    features = Features()
    add_words(features, index, score_words(index, parsed, ranked), ranked)
    add_symbols(features, index, parsed, ranked)
    add_title_symbols(features, index, parsed, ranked)
    add_names(features, index.names, parsed, ranked)
    add_trace(features, index, parsed)
    add_phrases(features, index, parsed, ranked)
    add_past(features, index, parsed)
    add_priors(features, index, ranked)
    return features


def add_past(features: Features, index: Index, parsed: Parsed) -> None:
    """Add features of earlier commits: similar changes, frequent fixes and folders with recent work."""
    past, size = index.changes, len(index.paths)
    features.files["similar_change"], features.files["similar_changes"] = similar_changes(past, parsed, size)
    features.files["told"] = score_by_messages(past, parsed, size)
    tests, source = (np.array([mine == role for mine in index.roles], bool) for role in ("test", "source"))
    features.files["fixed"] = fixed_often(past, tests, source)
    features.files["busy_folder"] = recent_folder_changes(past, index.names.folder)
