"""Precision by confidence, and the confidence from which claims are right as often as a repository asks."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from bot.settings.repository import RepositoryConfig

FIFTHS = 5
LEAST = 10
"""Cases needed at or above a confidence for it to be recommended."""
ENOUGH = 20
"""Known fixes from which a repository's own outcomes decide; with fewer, the shipped calibration does."""
NEVER = 1.01
"""A bound that no confidence reaches."""


@dataclass(frozen=True, slots=True)
class Promise:
    """The bound of claims, and what it rests on."""

    claim_from: float
    note: str = ""
    """A sentence for the report; empty if the repository sets no precision."""


def promise_of(config: RepositoryConfig, outcomes: Sequence[tuple[float, bool]] = ()) -> Promise:
    """Return a repository's bound by ``outcomes``: each report's confidence in the first file, and if it was fixed."""
    wanted = config.precision
    if wanted is None:
        return Promise(config.limits.claim_from)
    if len(outcomes) < ENOUGH:
        # A calibrated confidence is the share of right places, so above it at least this share is right.
        says = f"A claim needs a confidence of {wanted:.0%} here, by the shipped calibration: "
        return Promise(wanted, f"{says}fewer than {ENOUGH} fixes are known.")
    found = recommend(outcomes, wanted)
    if found is None:
        says = f"Nothing is claimed here: no confidence reached {wanted:.0%} right first files in "
        return Promise(NEVER, f"{says}{len(outcomes)} known fixes.")
    right = f"{round(found.precision * found.cases)} of {found.cases} known fixes were right (wanted {wanted:.0%})."
    says = f"A claim needs a confidence of {found.confidence:.0%} here: at or above it, {right}"
    return Promise(found.confidence, says)


@dataclass(frozen=True, slots=True)
class Fifth:
    """One fifth of the cases, ordered by confidence."""

    cases: int
    mean: float
    """Mean confidence."""
    right: int
    least: float
    """The lowest confidence of these cases."""
    most: float
    """The highest one."""


@dataclass(frozen=True, slots=True)
class Threshold:
    """A confidence threshold, and how often first files are correct at or above it."""

    confidence: float
    cases: int
    """Cases at or above the threshold."""
    coverage: float
    """The fraction of all cases at or above the threshold."""
    precision: float


def fifths(cases: Sequence[tuple[float, bool]]) -> tuple[Fifth, ...]:
    """Split (confidence, correct) pairs into fifths, highest confidence first; few cases give fewer parts."""
    surest = sorted(cases, key=lambda case: -case[0])
    parts = min(FIFTHS, len(surest))
    cuts = [surest[part * len(surest) // parts : (part + 1) * len(surest) // parts] for part in range(parts)]
    return tuple(
        Fifth(len(cut), sum(c for c, _ in cut) / len(cut), sum(right for _, right in cut), cut[-1][0], cut[0][0])
        for cut in cuts
    )


def wilson(right: int, cases: int) -> tuple[float, float]:
    """Return Wilson's score interval for a fraction, at 95 %; (0, 1) without cases.

    Wilson (1927), "Probable inference, the law of succession, and statistical inference". It stays within 0 and 1 and
    covers small numbers of cases well.
    """
    if not cases:
        return 0.0, 1.0
    share, spread = right / cases, 1.96**2 / cases
    middle = share + spread / 2
    around = 1.96 * math.sqrt(share * (1 - share) / cases + spread / (4 * cases))
    # At 0 and at 1 the bound is exact, and rounding must not move the fraction out of its interval.
    low = 0.0 if right == 0 else (middle - around) / (1 + spread)
    high = 1.0 if right == cases else (middle + around) / (1 + spread)
    return low, high


def curve(cases: Sequence[tuple[float, bool]]) -> tuple[Threshold, ...]:
    """Return precision and coverage at every confidence that occurs, highest first."""
    surest = sorted(cases, key=lambda case: -case[0])
    points: list[Threshold] = []
    right = 0
    for number, (confidence, was_right) in enumerate(surest, 1):
        right += was_right
        # Equal confidences share one point, because a threshold cannot separate them.
        if number == len(surest) or surest[number][0] < confidence:
            points.append(Threshold(confidence, number, number / len(surest), right / number))
    return tuple(points)


def recommend(cases: Sequence[tuple[float, bool]], target: float) -> Threshold | None:
    """Return the lowest threshold that reaches the target precision with at least ``LEAST`` cases, or None."""
    good = [point for point in curve(cases) if point.precision >= target and point.cases >= LEAST and point.confidence]
    return good[-1] if good else None
