"""Finds the definitions that a piece of code or prose refers to, by their exact names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nodes.search.index import lookup
from nodes.search.tokens import STOPWORDS, WORD, term_hash

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from nodes.search.index import Index

    Flags = npt.NDArray[np.bool_]

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
