"""Signs of life of a worker: its event loop turns, and no job of it is overdue."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

BEAT = 2.0
"""Seconds between two signs of life."""
SILENT = 20.0
"""Seconds without one after which a worker counts as hung; it runs at low priority on a machine that may be busy."""
OVERDUE = 3_600.0
"""Seconds after which an attempt at a job counts as hung."""


class InHand:
    """The attempts under way, by when they began."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._began: dict[int, float] = {}

    @contextmanager
    def attempt(self, job: int) -> Iterator[None]:
        """Count an attempt for the length of a block."""
        self._began[job] = self._clock()
        try:
            yield
        finally:
            del self._began[job]

    def oldest(self) -> float:
        """Seconds for which the oldest attempt has been under way; 0 if there is none."""
        return max((self._clock() - at for at in self._began.values()), default=0.0)


async def beat(in_hand: InHand, send: Callable[[float], None], every: float = BEAT) -> None:
    """Send the age of the oldest attempt, for ever; a loop that hangs sends nothing."""
    while True:
        send(in_hand.oldest())
        await asyncio.sleep(every)


class Pulse:
    """What the other side received."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._at: float | None = None
        self._oldest = 0.0

    def received(self, oldest: float) -> None:
        """A sign of life came, with the age of the oldest attempt in seconds."""
        self._at, self._oldest = self._clock(), oldest

    def stopped(self) -> None:
        """The worker ended."""
        self._at = None

    def fault(self) -> str:
        """Why the worker does not work; empty if it does."""
        if self._at is None:
            return "the worker is starting"
        silent = self._clock() - self._at
        if silent > SILENT:
            return f"the worker has given no sign of life for {silent:.0f} seconds"
        overdue = self._oldest + silent
        return f"a job has been under way for {overdue:.0f} seconds" if overdue > OVERDUE else ""
