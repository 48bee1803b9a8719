"""Features of the names and kinds of definitions, for the best files only."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nodes.search.tokens import hashes_of, term_hash

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nodes.search.features.table import Features
    from nodes.search.index import Index
    from nodes.search.query import Parsed

CONTAINERS = frozenset({"class", "interface", "enum", "module", "type"})
"""Kinds whose own lines are mostly attributes; their behaviour is in their members."""


def add_definitions(features: Features, index: Index, parsed: Parsed, files: Iterable[int]) -> None:
    """Add features to the chunks of some files: the kind of their definition, and how much of its name the text has."""
    size = len(index.chunk_file)
    title = {term_hash(term) for term in parsed.terms["title"]}
    body = {term_hash(term) for field in ("prose", "code") for term in parsed.terms[field]}
    container, dunder = np.zeros(size), np.zeros(size)
    in_title, in_body = np.zeros(size), np.zeros(size)
    for number in files:
        meta = index.meta(number)
        for chunk in np.flatnonzero(index.chunk_file == number).tolist():
            definition = int(index.chunk_def[chunk]) - int(index.first_def[number])
            if index.chunk_def[chunk] < 0:
                continue
            container[chunk] = meta.kinds[definition] in CONTAINERS
            last = meta.names[definition].rpartition(".")[2]
            dunder[chunk] = last.startswith("__") and last.endswith("__")
            parts = hashes_of(last)
            if parts:
                in_title[chunk] = len(title.intersection(parts)) / len(parts)
                in_body[chunk] = len(body.intersection(parts)) / len(parts)
    features.chunks["container"], features.chunks["dunder"] = container, dunder
    features.chunks["name_title"], features.chunks["name_body"] = in_title, in_body
