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
"""How many times longer the longer text is."""
MOST = 10
"""How many times longer it may take."""
NOTICEABLE = 0.005
"""Processor seconds below which a ratio says more about the machine than about the code."""
ROUNDS = 4


def cpu_seconds(work: Callable[[], object]) -> float:
    """Processor time that this thread spends on some work."""
    began = time.thread_time()
    work()
    return time.thread_time() - began


def assert_linear(work: Callable[[T], object], text: Callable[[int], T], size: int, says: object = "") -> None:
    """Assert that work on a text takes processor time in proportion to its length, or none to speak of.

    Args:
        work: what is measured.
        text: makes a text of a length.
        size: of the longer text.
        says: what the failure shows.
    """
    small, large = text(size // STEP), text(size)
    ratios: list[float] = []
    for _ in range(ROUNDS):  # quadratic work fails each round, an interrupted measurement one
        long = cpu_seconds(lambda: work(large))
        if long <= NOTICEABLE:
            return
        ratios.append(long / max(cpu_seconds(lambda: work(small)), NOTICEABLE / STEP))
        if ratios[-1] <= MOST:
            return
    raise AssertionError(f"{STEP} times the text takes {min(ratios):.1f} times the processor time {says}")


def assert_cheap(work: Callable[[], object], seconds: float, says: object = "") -> None:
    """Assert that some work takes little processor time, measured against what this machine takes for known work.

    Args:
        work: what is measured.
        seconds: as ``budget`` takes them.
        says: what the failure shows.
    """
    for _ in range(ROUNDS):
        took = cpu_seconds(work)
        if took < seconds or took < budget(seconds):  # a budget is never less than what was asked for
            return
    raise AssertionError(f"takes {took:.2f} s {says}")


def budget(seconds: float) -> float:
    """What takes ``seconds`` of processor time where the known work takes 10 ms, in seconds of this machine."""
    return seconds * max(1.0, cpu_seconds(_known) / 0.01)


def _known() -> int:
    """Some 10 ms of plain Python."""
    return sum(number * number % 7 for number in range(100_000))
