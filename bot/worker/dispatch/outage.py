"""Wait while the store is unavailable; log the start, the end and every 30 seconds of an outage, not every retry."""

from __future__ import annotations

import asyncio
import logging
import math
import time

STORE_WAIT = 1.0
"""Seconds before the store is queried again."""
LOG_INTERVAL = 30.0
"""Seconds between two log messages during an outage."""

logger = logging.getLogger(__name__)


class Outage:
    """The state of an outage of the store, shared by all its callers in this process."""

    def __init__(self) -> None:
        self._since: float | None = None
        self._over = -math.inf
        self._logged_at = 0.0

    def over_for(self, seconds: float) -> bool:
        """Return whether there is no outage, and the last one ended at least this many seconds ago."""
        return self._since is None and time.monotonic() - self._over >= seconds

    async def wait(self, error: Exception) -> None:
        """Wait before the next try, and log the outage if that is due."""
        now = time.monotonic()
        if self._since is None:
            self._since, self._logged_at = now, now - LOG_INTERVAL
        if now - self._logged_at >= LOG_INTERVAL:
            self._logged_at = now
            logger.warning("the store does not answer: %s", error, extra={"action": "store_failed"})
        await asyncio.sleep(STORE_WAIT)

    def over(self) -> None:
        """Record that the store answered."""
        if self._since is not None:
            self._over = time.monotonic()
            away, self._since = self._over - self._since, None
            logger.warning("the store answers again after %.0f s", away, extra={"action": "store_back"})
