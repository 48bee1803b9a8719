"""Adjustment of confidences to the fixes that landed in one repository."""

from __future__ import annotations

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
LABEL, LABELS = 0.5, 0.5
"""Weight of one label's judgement, and the maximum weight of all of them as a fraction of that of the known fixes."""
_EDGE = 1e-4
_STEPS = 60


@dataclass(frozen=True, slots=True)
class Record:
    """The adjustment of a repository's confidences: one shift of the log-odds, which preserves their order."""

    outcomes: int
    right: int
    shift: float
    judged: int = 0
    """Claims that people judged, by word, reaction or label, and no fix has settled; they count too."""

    @property
    def basis(self) -> str:
        """The number of outcomes, in words."""
        judged = f" and {count(self.judged, 'judgement')}" if self.judged else ""
        return f"{self.outcomes} known fixes{judged}"

    def confidence(self, shipped: float) -> float:
        """Return the adjusted confidence."""
        return shipped if shipped <= 0 else _sigmoid(_logit(shipped) + self.shift)


def read_record(
    outcomes: Sequence[tuple[float, bool]],
    judged: Sequence[tuple[float, bool]] = (),
    labelled: Sequence[tuple[float, bool]] = (),
) -> Record | None:
    """Return the record of a repository, or None if it has too few outcomes.

    The shift is the most likely one under a normal prior with mean 0 (maximum a posteriori), so few outcomes change it
    little.

    Args:
        outcomes: of scored reports, the confidence in the first file, and whether it was fixed.
        judged: the same for claims that people judged. They count in addition to enough outcomes, never instead of
            them, because people report wrong claims more often than they confirm right ones.
        labelled: the same for claims that only labels judged. Each counts half, and all of them at most half as much
            as the outcomes, because a label names a part of the project and not a fault.
    """
    if len(outcomes) < ENOUGH:
        return None
    whole = (*outcomes, *judged)
    half = min(LABEL, LABELS * len(outcomes) / len(labelled)) if labelled else 0.0
    every = (*((sentence, 1.0) for sentence in whole), *((sentence, half) for sentence in labelled))
    right = sum(weight for (_, was_right), weight in every if was_right)
    logits = [(_logit(confidence), weight) for (confidence, _), weight in every]
    low, high = -10.0, 10.0
    for _ in range(_STEPS):  # the derivative decreases monotonically, so bisection finds its zero
        shift = (low + high) / 2
        slope = right - sum(weight * _sigmoid(logit + shift) for logit, weight in logits) - shift / PRIOR**2
        low, high = (shift, high) if slope > 0 else (low, shift)
    known = sum(was_right for _, was_right in (*whole, *labelled))
    return Record(len(outcomes), known, round((low + high) / 2, 6), len(judged) + len(labelled))


def _logit(confidence: float) -> float:
    inside = min(max(confidence, _EDGE), 1 - _EDGE)
    return math.log(inside / (1 - inside))


def _sigmoid(logit: float) -> float:
    return 1 / (1 + math.exp(-logit))
