"""Limit the rate of model calls of this process."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable


class Pace:
    """A token bucket that starts full: a burst of a minute's calls, then a steady rate."""

    def __init__(
        self,
        calls_per_minute: float,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._rate = calls_per_minute / 60
        self._size = max(1.0, calls_per_minute)
        self._tokens = self._size
        self._clock, self._sleep = clock, sleep
        self._at = clock()

    async def wait(self) -> None:
        """Return when a call may be made, in first-in, first-out order."""
        now = self._clock()
        self._tokens = min(self._size, self._tokens + (now - self._at) * self._rate) - 1
        self._at = now
        # A negative balance is a place in the queue: a later caller has a lower balance and waits longer.
        if self._tokens < 0:
            await self._sleep(-self._tokens / self._rate)

    async def pause(self, seconds: float) -> None:
        """Return after this many seconds."""
        await self._sleep(seconds)
