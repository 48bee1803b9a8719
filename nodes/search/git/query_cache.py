"""Caches git's answers about objects named by full ids; such answers never become wrong."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Hashable

LARGEST = 16_000_000
"""Maximum bytes of the answers of one repository."""
_PART = 16
"""An answer larger than this fraction of the limit is not stored, because it would evict all others."""


class QueryCache:
    """An LRU cache of answers by query. Safe to use from several threads."""

    def __init__(self, largest: int = LARGEST) -> None:
        """Create an empty cache.

        Args:
            largest: maximum bytes of all answers together.
        """
        self._largest = largest
        self._used = 0
        self._answers: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        # Without the lock, ``popitem`` of one thread could remove an entry between another's lookup and
        # ``move_to_end``.
        self._lock = Lock()

    def get(self, query: Hashable) -> Any:
        """Return the stored answer, or None."""
        with self._lock:
            found = self._answers.get(query)
            if found is None:
                return None
            self._answers.move_to_end(query)
            return found[0]

    def keep(self, query: Hashable, answer: Any, size: int) -> None:
        """Store an answer of about ``size`` bytes, unless it is too large."""
        if size * _PART > self._largest:
            return
        with self._lock:
            # Two threads may store the same answer; its size must count once.
            _, before = self._answers.pop(query, (None, 0))
            self._answers[query] = (answer, size)
            self._used += size - before
            while self._used > self._largest:
                _, (_, freed) = self._answers.popitem(last=False)
                self._used -= freed
