"""How often somebody may guess."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

MOST = 10
"""Wrong guesses of one address within ``WITHIN``."""
WITHIN = 300.0
"""Seconds."""
_ADDRESSES = 10_000


class Attempts:
    """Counts wrong guesses by address; behind a proxy all share one, which is the safe side."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._wrong: OrderedDict[str, list[float]] = OrderedDict()

    def may_try(self, address: str) -> bool:
        """Whether another guess is looked at."""
        since = self._clock() - WITHIN
        recent = [at for at in self._wrong.get(address, ()) if at > since]
        return len(recent) < MOST

    def was_wrong(self, address: str) -> None:
        """Count a guess."""
        self._wrong[address] = [*self._wrong.pop(address, ()), self._clock()][-MOST:]
        while len(self._wrong) > _ADDRESSES:
            self._wrong.popitem(last=False)
