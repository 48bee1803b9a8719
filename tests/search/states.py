"""An index as plain values, for comparisons."""

from __future__ import annotations

from typing import Any

from nodes.search.index.index import Index


def state(index: Index) -> tuple[Any, ...]:
    """Return everything that a query can read."""
    columns = (
        "chunk_file",
        "chunk_start",
        "chunk_end",
        "chunk_def",
        "chunk_length",
        "def_file",
        "def_last",
        "def_dotted",
    )
    more = ("def_start", "def_end", "string_file", "string_hash", "string_line", "_post_hash", "_post_count")
    metas = [index.meta(number) for number in range(len(index.paths))]
    paths = index.path_file.tolist(), index.path_hash.tolist()
    return (
        index.paths,
        index.blobs,
        index.roles,
        metas,
        paths,
        repr(index.changes),
        [getattr(index, name).tobytes() for name in columns + more],
    )
