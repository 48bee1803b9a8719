"""Search engines over mirrors: the last few stay in memory, so that issues of one repository share an index."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path

from nodes.search.engine import Engine

KEPT = 2
"""Repositories whose indexes stay in memory; what was parsed stays on disk beside each mirror."""


class Engines:
    """Engines by mirror."""

    def __init__(self, cache_bytes: int, kept: int = KEPT) -> None:
        """Make none yet.

        Args:
            cache_bytes: how much of what was parsed is kept of each repository, on disk.
            kept: repositories whose indexes stay in memory.
        """
        self._cache_bytes = cache_bytes
        self._kept = kept
        self._engines: OrderedDict[Path, Engine] = OrderedDict()

    def of(self, mirror: Path) -> Engine:
        """The engine of a mirror, made if need be; its cache goes when the mirror goes."""
        engine = self._engines.pop(mirror, None)
        if engine is None or not mirror.exists():
            engine = Engine(mirror, mirror.parent, cache_bytes=self._cache_bytes)
        self._engines[mirror] = engine
        while len(self._engines) > self._kept:
            self._engines.popitem(last=False)
        return engine
