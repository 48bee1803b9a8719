"""Search engines over mirrors: as many as there is room for stay in memory, so that issues share an index."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path

from nodes.search.engine import Engine
from nodes.search.loading import MOST_TEXT

LARGEST = 96_000_000
"""Bytes of indexes that stay in memory, about; what was parsed stays on disk beside each mirror."""
MOST = 64
"""Engines that are kept, however small: each holds a file open."""


class Engines:
    """Engines by mirror."""

    def __init__(self, cache_bytes: int, largest: int = LARGEST, *, most_text: int = MOST_TEXT) -> None:
        """Make none yet.

        Args:
            cache_bytes: how much of what was parsed is kept of each repository, on disk.
            largest: bytes that all indexes may take in memory, but for the one used last.
            most_text: bytes of text of a commit that are indexed.
        """
        self._cache_bytes = cache_bytes
        self._largest = largest
        self._most_text = most_text
        self._engines: OrderedDict[Path, Engine] = OrderedDict()

    def of(self, mirror: Path) -> Engine:
        """The engine of a mirror, made if need be; its cache goes when the mirror goes."""
        engine = self._engines.pop(mirror, None)
        if engine is None or not mirror.exists():
            engine = Engine(mirror, mirror.parent, cache_bytes=self._cache_bytes, most_text=self._most_text)
        taken = sum(other.memory for other in self._engines.values())
        while self._engines and (taken + engine.memory > self._largest or len(self._engines) >= MOST):
            _, oldest = self._engines.popitem(last=False)
            taken -= oldest.memory
        self._engines[mirror] = engine
        return engine
