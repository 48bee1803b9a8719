"""The wall between viewers: a clause that every statement of a page carries."""

from __future__ import annotations

from collections.abc import Collection

from bot.store.database import Value

Keys = Collection[str] | None
"""Of the repositories that whoever looks may see; None is all of them."""


def visible(column: str, keys: Keys) -> tuple[str, list[Value]]:
    """A condition and its parameters: the column is one of the keys."""
    if keys is None:
        return "1 = 1", []
    if not keys:
        return "1 = 0", []
    return f"{column} IN ({', '.join('?' * len(keys))})", [*sorted(keys)]
