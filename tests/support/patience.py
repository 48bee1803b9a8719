"""Time limits of tests that scale with the machine's load, so that load never fails a test.

Limits are written for an idle machine. A test waits for a condition and never asserts how long something took.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from pathlib import Path

import httpx

FLOOR = 3.0
"""Minimum factor of every time limit: a limit detects a hang and measures nothing."""
CEILING = 30.0
STILL = 300.0
"""Seconds without progress after which ``wait_while_moving`` fails on any machine, however busy it is."""
LATER = 0.05
"""Seconds until the next check as a fraction of those since the first."""
RARELY = 0.1
"""Maximum seconds between two checks."""
_CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
_LOADAVG = Path("/proc/loadavg")


def slowness() -> float:
    """Return the current factor of time limits.

    With a load of twenty on two cores, a process and its children get a tenth of a core; the factor is then 15.
    """
    return min(CEILING, max(FLOOR, 1.5 * _load() / _CORES))


def patience(seconds: float) -> float:
    """Return the current limit for something that takes less than ``seconds`` on an idle machine."""
    return seconds * slowness()


class Deadline:
    """A limit that is extended while it runs if the machine becomes busier."""

    def __init__(self, seconds: float) -> None:
        self._began = self._measured = time.monotonic()
        self._seconds = seconds
        self._factor = slowness()

    def passed(self) -> bool:
        """Return whether the limit has passed."""
        now = time.monotonic()
        # The load of the last minute changes slowly, and a test asks up to a hundred times per second.
        if now - self._measured > 1.0 or now - self._began > self._seconds * self._factor:
            self._factor, self._measured = max(self._factor, slowness()), now
        return now - self._began > self._seconds * self._factor


def wait_for(
    holds: Callable[[], bool], seconds: float, says: Callable[[], object] = lambda: "", *, pause: float = 0.02
) -> None:
    """Wait until a condition is true; it is false while an HTTP server does not answer.

    Args:
        holds: the condition.
        seconds: the limit on an idle machine.
        says: what the failure shows.
        pause: seconds between the first checks; later ones are further apart, for each takes processor time.
    """
    deadline, began = Deadline(seconds), time.monotonic()
    while not _holds(holds):
        assert not deadline.passed(), says()
        time.sleep(min(max(pause, LATER * (time.monotonic() - began)), RARELY))


def wait_while_moving(
    holds: Callable[[], bool], progress: Callable[[], object], says: Callable[[], object], *, silence: float = 0.0
) -> None:
    """Wait until a condition is true, and fail when nothing happened for a minute on an idle machine.

    Args:
        holds: the condition.
        progress: a value that changes whenever something happens.
        says: what the failure shows.
        silence: seconds in which nothing can happen.
    """
    last, since = progress(), time.monotonic()
    while not _holds(holds):
        if (now := progress()) != last:
            last, since = now, time.monotonic()
        assert time.monotonic() - since < min(patience(60.0), STILL) + silence, says()
        time.sleep(0.1)


async def until(holds: Callable[[], bool], seconds: float = 20.0) -> None:
    """Wait in the event loop until a condition is true; ``seconds`` is the limit on an idle machine."""
    deadline = Deadline(seconds)
    while not holds():
        assert not deadline.passed()
        await asyncio.sleep(0.01)


def _holds(condition: Callable[[], bool]) -> bool:
    try:
        return condition()
    except httpx.HTTPError:
        return False


def _load() -> float:
    """Return the number of runnable processes: the mean of the last minute or the current number, if higher."""
    try:
        minute, _, _, instant, _ = _LOADAVG.read_text().split()
        return max(float(minute), float(instant.partition("/")[0]))
    except (OSError, ValueError):
        return os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
