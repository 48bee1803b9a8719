"""Figures from scored cases: how often the fixed file is found, how reliable a confidence is, when to claim a cause."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from bot.report.words import count

PLACES = (1, 3, 5, 10)
FIFTHS = 5
LEAST = 10
"""Cases needed at or above a confidence for it to be recommended."""


class Used(NamedTuple):
    """The requests to one model in one run."""

    model: str
    calls: int
    input_tokens: int
    output_tokens: int
    cached_tokens: int = 0
    """Those of the input that the provider took from its cache."""


@dataclass(frozen=True, slots=True)
class Scored:
    """One issue, its report at the commit before the fix, and what the fix changed."""

    number: int
    fix: str
    base: str
    title: str
    kind: str
    confidence: float
    """Confidence in the first file; 0 if none was named."""
    claims: bool
    """Whether a cause was claimed, not only a place to start reading."""
    gold: tuple[str, ...]
    """Source files that the fix changed."""
    ranked: tuple[str, ...]
    """The first files that were named, best first."""
    seconds: float
    calls: int = 0
    tokens: int = 0
    fell_back: bool = False
    """Whether rules judged a part of the run because the model did not."""
    place_rank: int = 0
    """Rank of the first place that contains a line the fix changed, from 1; 0 if none does."""
    used: tuple[Used, ...] = ()
    """What each model was asked."""
    model_seconds: float = 0.0
    """The time for which the run waited for models."""
    engine_first: str = ""
    """The first file of the search alone; empty if there was none."""
    engine_confidence: float = 0.0
    """The search's calibrated confidence in its first file."""
    model_confidence: float | None = None
    """The confidence of the model's last reading of the code, as the run used it; None if no model read it."""

    opinions: dict[str, float] | None = None
    """How search and model rated the first file (``nodes.context.agreement``); None if no model read the code."""

    @property
    def rank(self) -> int:
        """Rank of the first file that the fix changed, from 1; 0 if none of the named files was changed."""
        return next((at for at, path in enumerate(self.ranked, 1) if path in self.gold), 0)

    @property
    def by_people(self) -> bool:
        """Whether a correction and not a fix names the files; the issue was triaged at the commit of its report."""
        return self.fix == self.base

    @property
    def right(self) -> bool:
        """Whether the fix changed the first file."""
        return self.rank == 1

    def document(self) -> dict[str, Any]:
        """Return the case as plain values."""
        used = [one._asdict() for one in self.used]
        lists = {"gold": list(self.gold), "ranked": list(self.ranked), "used": used}
        return {**asdict(self), **lists, "rank": self.rank}

    @classmethod
    def load(cls, record: dict[str, Any]) -> Scored:
        """Read the values that ``document`` returned."""
        given = {name: record[name] for name in cls.__dataclass_fields__}
        used = tuple(Used(**one) for one in given["used"])
        return cls(**{**given, "gold": tuple(given["gold"]), "ranked": tuple(given["ranked"]), "used": used})


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


def hits(ranks: Sequence[int]) -> dict[int, float]:
    """Return the fraction of ranks (from 1; 0 is none) within the first k, by k."""
    return {k: sum(0 < rank <= k for rank in ranks) / max(len(ranks), 1) for k in PLACES}


def fifths(cases: Sequence[tuple[float, bool]]) -> tuple[Fifth, ...]:
    """Split (confidence, correct) pairs into fifths, highest confidence first; few cases give fewer parts."""
    surest = sorted(cases, key=lambda case: -case[0])
    parts = min(FIFTHS, len(surest))
    cuts = [surest[part * len(surest) // parts : (part + 1) * len(surest) // parts] for part in range(parts)]
    return tuple(
        Fifth(len(cut), statistics.fmean(c for c, _ in cut), sum(right for _, right in cut), cut[-1][0], cut[0][0])
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


def described(cases: Sequence[Scored], times: str = "") -> str:
    """Return how many cases of which kind were triaged at which commits."""
    corrections = sum(case.by_people for case in cases)
    fixes = f"{len(cases) - corrections} past fixes, each triaged {times}at the commit before it"
    more = f"; {count(corrections, 'correction')} by people, at the commit of the report" if corrections else ""
    return fixes + more


def calibration(cases: Sequence[Scored]) -> list[tuple[float, bool]]:
    """Return the (confidence, correct) pairs for the figures on confidence."""
    return [(case.confidence, case.right) for case in cases]
