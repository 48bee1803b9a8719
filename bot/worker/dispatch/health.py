"""The health of a worker: heartbeats of its event loop and jobs, and outages of the store, logged once."""

import asyncio
import logging
import math
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from bot.store.databases.database import ClosedError, StoreError

BEAT = 2.0
"""Seconds between two heartbeats."""
SILENT = 20.0
"""Seconds without a heartbeat after which a worker counts as hung; it has low priority and the machine may be busy."""
OVERDUE = 3_600.0
"""Seconds after which an attempt at a job counts as hung."""
STORE_WAIT = 1.0
"""Seconds before the store is queried again."""
LOG_INTERVAL = 30.0
"""Seconds between two log messages during an outage."""

logger = logging.getLogger(__name__)
T = TypeVar("T")


class ActiveAttempts:
    """The attempts in progress, with their start times."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._began: dict[object, float] = {}

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Count an attempt for the duration of a block."""
        # A process that was suspended may attempt one job twice at the same time, so the job cannot be the key.
        attempt = object()
        self._began[attempt] = self._clock()
        try:
            yield
        finally:
            del self._began[attempt]

    def oldest(self) -> float:
        """Return the age of the oldest attempt in seconds; 0 if there is none."""
        return max((self._clock() - at for at in self._began.values()), default=0.0)


async def send_heartbeats(
    active_attempts: ActiveAttempts, fault: Callable[[], str], send: Callable[[float, str], None], every: float = BEAT
) -> None:
    """Send the oldest attempt's age and the worker's fault periodically; an event loop that hangs sends nothing."""
    while True:
        # In a thread, because it asks the disk.
        send(active_attempts.oldest(), await asyncio.to_thread(fault))
        await asyncio.sleep(every)


class HeartbeatMonitor:
    """The heartbeats that the receiving process has seen."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._at: float | None = None
        self._oldest = 0.0
        self._fault = ""

    def received(self, oldest: float, fault: str = "") -> None:
        """Record a heartbeat with the age of the oldest attempt in seconds, and the worker's fault."""
        if fault != self._fault:
            state = f"cannot work: {fault}" if fault else "can work again"
            logger.warning("the worker %s", state, extra={"action": "worker_fault"})
        self._at, self._oldest, self._fault = self._clock(), oldest, fault

    def stopped(self) -> None:
        """Record that the worker ended."""
        self._at = None

    def fault(self) -> str:
        """Return why the worker does not work; empty if it does."""
        if self._at is None:
            return "the worker is starting"
        silent = self._clock() - self._at
        if silent > SILENT:
            return f"the worker has sent no heartbeat for {silent:.0f} seconds"
        overdue = self._oldest + silent
        return f"a job has been running for {overdue:.0f} seconds" if overdue > OVERDUE else self._fault


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

    async def outlast(self, call: Callable[[], Awaitable[T]]) -> T:
        """Return what a call of the store returns; while it does not answer, call again."""
        while True:
            try:
                answer = await call()
            except ClosedError:
                raise
            except StoreError as error:
                await self.wait(error)
            else:
                self.over()
                return answer

    def over(self) -> None:
        """Record that the store answered."""
        if self._since is not None:
            self._over = time.monotonic()
            away, self._since = self._over - self._since, None
            logger.warning("the store answers again after %.0f s", away, extra={"action": "store_back"})
