"""What a confidence is worth in one repository, by the fixes that landed there."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

ENOUGH = 30
"""Scored reports below which the shipped calibration stands alone."""
PRIOR = 0.5
"""How far, in log-odds, a repository is expected to be off before anything is known of it (standard deviation).

An outcome tells about a fifth of a unit of information, so this weighs as much as twenty of them.
"""
_EDGE = 1e-4
_STEPS = 60


@dataclass(frozen=True, slots=True)
class Record:
    """How far confidences are off in a repository: one shift of the log-odds, so that their order stays."""

    outcomes: int
    right: int
    shift: float

    def confidence(self, shipped: float) -> float:
        """The confidence by this record."""
        return shipped if shipped <= 0 else _sigmoid(_logit(shipped) + self.shift)


def read_record(outcomes: Sequence[tuple[float, bool]]) -> Record | None:
    """The record of a repository; None where there are too few outcomes to have one.

    The shift is the most likely one, given a normal prior around no shift at all (MAP): few outcomes move it little.

    Args:
        outcomes: of scored reports, the confidence in the first file, and whether it was fixed.
    """
    if len(outcomes) < ENOUGH:
        return None
    right = sum(was_right for _, was_right in outcomes)
    logits = [_logit(confidence) for confidence, _ in outcomes]
    low, high = -10.0, 10.0
    for _ in range(_STEPS):  # the slope falls all the way, so halving finds where it is none
        shift = (low + high) / 2
        slope = right - sum(_sigmoid(logit + shift) for logit in logits) - shift / PRIOR**2
        low, high = (shift, high) if slope > 0 else (low, shift)
    return Record(len(outcomes), right, round((low + high) / 2, 6))


def _logit(confidence: float) -> float:
    inside = min(max(confidence, _EDGE), 1 - _EDGE)
    return math.log(inside / (1 - inside))


def _sigmoid(logit: float) -> float:
    return 1 / (1 + math.exp(-logit))
