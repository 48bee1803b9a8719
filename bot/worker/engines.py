"""Search engines by mirror. Those used last stay in memory, within a bound, so that issues share an index."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path

from nodes.search.engine import Engine
from nodes.search.loading import MOST_TEXT

LARGEST = 96_000_000
"""Approximate bytes of indexes in memory. Parsed files are cached on disk beside each mirror."""
MOST = 64
"""Number of engines in memory, however small they are: each holds a file open."""


class Engines:
    """A cache of engines by mirror, evicted by least recent use."""

    def __init__(self, cache_bytes: int, largest: int = LARGEST, *, most_text: int = MOST_TEXT) -> None:
        """Create an empty cache.

        Args:
            cache_bytes: Bytes of parsed files that are cached on disk per repository.
            largest: Bytes that all indexes together may take in memory; the one used last may exceed it alone.
            most_text: Bytes of text of a commit that are indexed.
        """
        self._cache_bytes = cache_bytes
        self._largest = largest
        self._most_text = most_text
        self._engines: OrderedDict[Path, Engine] = OrderedDict()

    def of(self, mirror: Path) -> Engine:
        """The engine of a mirror, created if needed. An engine whose mirror was removed is replaced."""
        engine = self._engines.pop(mirror, None)
        if engine is None or not mirror.exists():
            engine = Engine(mirror, mirror.parent, cache_bytes=self._cache_bytes, most_text=self._most_text)
        # The engine was removed from the dict and is put last below, so the dict's order is that of the last use.
        taken = sum(other.memory for other in self._engines.values())
        while self._engines and (taken + engine.memory > self._largest or len(self._engines) >= MOST):
            _, oldest = self._engines.popitem(last=False)
            taken -= oldest.memory
        self._engines[mirror] = engine
        return engine
