"""Restrict a page's queries to the repositories that its viewer may see."""

from __future__ import annotations

from collections.abc import Collection

from bot.store.database import Value

Keys = Collection[str] | None
"""Keys of the repositories that the viewer may see; None means all."""


def visible(column: str, keys: Keys) -> tuple[str, list[Value]]:
    """Return a condition that the column is one of the keys, and its parameters."""
    if keys is None:
        return "1 = 1", []
    if not keys:
        return "1 = 0", []
    return f"{column} IN ({', '.join('?' * len(keys))})", [*sorted(keys)]
