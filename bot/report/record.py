"""Adjustment of confidences to the fixes that landed in one repository."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from bot.report.words import count

ENOUGH = 30
"""Minimum number of scored reports for an adjustment; with fewer, the packaged calibration applies unchanged."""
PRIOR = 0.5
"""Standard deviation of the prior on a repository's shift, in log-odds.

An outcome contributes about a fifth of a unit of information, so the prior has the weight of twenty outcomes.
"""
_EDGE = 1e-4
_STEPS = 60


@dataclass(frozen=True, slots=True)
class Record:
    """The adjustment of a repository's confidences: one shift of the log-odds, which preserves their order."""

    outcomes: int
    right: int
    shift: float
    judged: int = 0
    """Claims that people judged, and no fix has settled; they count too."""

    @property
    def basis(self) -> str:
        """The number of outcomes, in words."""
        judged = f" and {count(self.judged, 'judgement')}" if self.judged else ""
        return f"{self.outcomes} known fixes{judged}"

    def confidence(self, shipped: float) -> float:
        """Return the adjusted confidence."""
        return shipped if shipped <= 0 else _sigmoid(_logit(shipped) + self.shift)


def read_record(outcomes: Sequence[tuple[float, bool]], judged: Sequence[tuple[float, bool]] = ()) -> Record | None:
    """Return the record of a repository, or None if it has too few outcomes.

    The shift is the most likely one under a normal prior with mean 0 (maximum a posteriori), so few outcomes change it
    little.

    Args:
        outcomes: of scored reports, the confidence in the first file, and whether it was fixed.
        judged: the same for claims that people judged. They count in addition to enough outcomes, never instead of
            them, because people report wrong claims more often than they confirm right ones.
    """
    if len(outcomes) < ENOUGH:
        return None
    whole = (*outcomes, *judged)
    right = sum(was_right for _, was_right in whole)
    logits = [_logit(confidence) for confidence, _ in whole]
    low, high = -10.0, 10.0
    for _ in range(_STEPS):  # the derivative decreases monotonically, so bisection finds its zero
        shift = (low + high) / 2
        slope = right - sum(_sigmoid(logit + shift) for logit in logits) - shift / PRIOR**2
        low, high = (shift, high) if slope > 0 else (low, shift)
    return Record(len(outcomes), right, round((low + high) / 2, 6), len(judged))


def _logit(confidence: float) -> float:
    inside = min(max(confidence, _EDGE), 1 - _EDGE)
    return math.log(inside / (1 - inside))


def _sigmoid(logit: float) -> float:
    return 1 / (1 + math.exp(-logit))
