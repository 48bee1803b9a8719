"""Measures how processor time grows with the length of a text, to test for linear time.

Other processes on the same core change wall time but hardly the ratio of two processor times. Four times the text takes
4 times as long in linear time and 16 times in quadratic time; the limit is in between.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

STEP = 4
"""Ratio of the lengths of the two texts."""
MAX_RATIO = 10
"""Maximum ratio of the processor times."""
NOTICEABLE = 0.005
"""Processor seconds below which a ratio depends more on the machine than on the code."""
SOON = NOTICEABLE / 4
"""The same for a text half as long: quadratic time that takes ``NOTICEABLE`` on the whole takes this on the half."""
ROUNDS = 4


def cpu_seconds(work: Callable[[], object]) -> float:
    """Return the processor time that this thread spends on a function."""
    began = time.thread_time()
    work()
    return time.thread_time() - began


def assert_linear(
    work: Callable[[T], object],
    text: Callable[[int], T],
    size: int,
    says: object = "",
    *,
    noticeable: float = NOTICEABLE,
) -> None:
    """Assert that work on a text takes processor time in proportion to its length, or a negligible amount.

    Args:
        work: the measured function.
        text: creates a text of a given length.
        size: length of the longer text.
        says: what the failure shows.
        noticeable: processor seconds that are never too many for the longer text.
    """
    small, large = text(size // STEP), text(size)
    ratios: list[float] = []
    for _ in range(ROUNDS):  # quadratic work fails every round, an interrupted measurement only one
        long = cpu_seconds(lambda: work(large))
        if long <= noticeable:
            return
        ratios.append(long / max(cpu_seconds(lambda: work(small)), noticeable / STEP))
        if ratios[-1] <= MAX_RATIO:
            return
    raise AssertionError(f"{STEP} times the text takes {min(ratios):.1f} times the processor time {says}")


def assert_cheap(work: Callable[[], object], seconds: float, says: object = "") -> None:
    """Assert that a function takes little processor time, relative to this machine's time for known work.

    Args:
        work: the measured function.
        seconds: as for ``budget``.
        says: what the failure shows.
    """
    for _ in range(ROUNDS):
        took = cpu_seconds(work)
        if took < seconds or took < budget(seconds):  # a budget is never below the requested value
            return
    raise AssertionError(f"takes {took:.2f} s {says}")


def budget(seconds: float) -> float:
    """Return this machine's equivalent of ``seconds`` of processor time on one whose known work takes 10 ms."""
    return seconds * max(1.0, cpu_seconds(_known) / 0.01)


def _known() -> int:
    """Run about 10 ms of plain Python."""
    return sum(number * number % 7 for number in range(100_000))
