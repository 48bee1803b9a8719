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
"""How much longer than written every wait may take: a limit catches a hang and is no measurement."""
CEILING = 30.0
_CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
_LOADAVG = Path("/proc/loadavg")


def slowness() -> float:
    """By which factor limits grow now.

    With a load of twenty on two cores a process gets a tenth of a core, and its children too; the factor is then 15.
    """
    return min(CEILING, max(FLOOR, 1.5 * _load() / _CORES))


def patience(seconds: float) -> float:
    """Seconds that something may take now which takes less than ``seconds`` on an idle machine."""
    return seconds * slowness()


class Deadline:
    """A limit that moves when the machine gets busier while somebody waits."""

    def __init__(self, seconds: float) -> None:
        self._began = time.monotonic()
        self._seconds = seconds
        self._factor = slowness()

    def passed(self) -> bool:
        """Whether it is time to give up."""
        self._factor = max(self._factor, slowness())
        return time.monotonic() - self._began > self._seconds * self._factor


def wait_for(
    holds: Callable[[], bool], seconds: float, says: Callable[[], object] = lambda: "", *, pause: float = 0.02
) -> None:
    """Wait until a condition holds; while an HTTP server does not answer it does not.

    Args:
        holds: the condition.
        seconds: on an idle machine.
        says: what the failure shows.
        pause: seconds between two checks.
    """
    deadline = Deadline(seconds)
    while not _holds(holds):
        assert not deadline.passed(), says()
        time.sleep(pause)


async def until(holds: Callable[[], bool], seconds: float = 20.0) -> None:
    """Wait in the event loop until a condition holds; ``seconds`` are those of an idle machine."""
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
    """Processes that want to run: the mean of the last minute or the number at this instant, whichever is more."""
    try:
        minute, _, _, instant, _ = _LOADAVG.read_text().split()
        return max(float(minute), float(instant.partition("/")[0]))
    except (OSError, ValueError):
        return os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
