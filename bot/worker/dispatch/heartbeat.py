"""Heartbeats of a worker: they show that its event loop runs and that none of its jobs is overdue."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

BEAT = 2.0
"""Seconds between two heartbeats."""
SILENT = 20.0
"""Seconds without a heartbeat after which a worker counts as hung; it has low priority and the machine may be busy."""
OVERDUE = 3_600.0
"""Seconds after which an attempt at a job counts as hung."""


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


async def send_heartbeats(active_attempts: ActiveAttempts, send: Callable[[float], None], every: float = BEAT) -> None:
    """Send the age of the oldest attempt periodically; an event loop that hangs sends nothing."""
    while True:
        send(active_attempts.oldest())
        await asyncio.sleep(every)


class HeartbeatMonitor:
    """The heartbeats that the receiving process has seen."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._at: float | None = None
        self._oldest = 0.0

    def received(self, oldest: float) -> None:
        """Record a heartbeat with the age of the oldest attempt in seconds."""
        self._at, self._oldest = self._clock(), oldest

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
        return f"a job has been running for {overdue:.0f} seconds" if overdue > OVERDUE else ""
