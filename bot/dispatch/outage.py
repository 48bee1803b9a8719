"""Wait while the store is away, and say so when it begins and when it ends: not with every try."""

from __future__ import annotations

import asyncio
import logging
import math
import time

STORE_WAIT = 1.0
"""Seconds before the store is asked again."""
SAID_AGAIN = 30.0
"""Seconds after which an outage that goes on is said again."""

logger = logging.getLogger(__name__)


class Outage:
    """What is known of the store's being away, shared by whoever waits for it in this process."""

    def __init__(self) -> None:
        self._since: float | None = None
        self._over = -math.inf
        self._said = 0.0

    def over_for(self, seconds: float) -> bool:
        """Whether the store has answered for so long by now, as far as anybody asked it."""
        return self._since is None and time.monotonic() - self._over >= seconds

    async def wait(self, error: Exception) -> None:
        """Let some time pass before the next try."""
        now = time.monotonic()
        if self._since is None:
            self._since, self._said = now, now - SAID_AGAIN
        if now - self._said >= SAID_AGAIN:
            self._said = now
            logger.warning("the store does not answer: %s", error, extra={"action": "store_failed"})
        await asyncio.sleep(STORE_WAIT)

    def over(self) -> None:
        """It answered."""
        if self._since is not None:
            self._over = time.monotonic()
            away, self._since = self._over - self._since, None
            logger.warning("the store answers again after %.0f s", away, extra={"action": "store_back"})
