"""Count recent wrong tokens per address."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

MOST = 10
"""Wrong tokens from one address within ``WITHIN`` after which further wrong tokens get 429."""
WITHIN = 300.0
"""Seconds."""
_ADDRESSES = 10_000


class Attempts:
    """Counts wrong tokens by address.

    The count only changes the answer to further wrong tokens. The right token always works: behind a proxy all callers
    share one address, and a stranger must not be able to lock the operator out. What protects the token is its length.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._wrong: OrderedDict[str, list[float]] = OrderedDict()

    def is_blocked(self, address: str) -> bool:
        """Whether too many wrong tokens came from this address within ``WITHIN``."""
        since = self._clock() - WITHIN
        recent = [at for at in self._wrong.get(address, ()) if at > since]
        return len(recent) >= MOST

    def record_failure(self, address: str) -> None:
        """Count a wrong token."""
        # Reinsert the address at the end, so the loop below removes the addresses that failed longest ago.
        self._wrong[address] = [*self._wrong.pop(address, ()), self._clock()][-MOST:]
        while len(self._wrong) > _ADDRESSES:
            self._wrong.popitem(last=False)
