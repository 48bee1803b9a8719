"""Figures out of scored cases: how often the fixed file is found, what a confidence is worth, when to speak."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

PLACES = (1, 3, 5, 10)
FIFTHS = 5
LEAST = 10
"""Cases at a confidence and above; fewer recommend nothing."""


@dataclass(frozen=True, slots=True)
class Scored:
    """One issue, what was said of it at the commit before its fix, and what the fix changed."""

    number: int
    fix: str
    base: str
    title: str
    kind: str
    confidence: float
    """In the first file; 0 where none was named."""
    claims: bool
    """A cause was claimed, and not only a place to start reading."""
    gold: tuple[str, ...]
    """Files that the fix changed."""
    ranked: tuple[str, ...]
    """The first files that were named, best first."""
    seconds: float
    calls: int = 0
    tokens: int = 0
    fell_back: bool = False
    """Rules judged a part of it, as the model did not."""
    place_rank: int = 0
    """Of the first place that holds a line the fix changed, from 1; 0 where none of those named does."""

    @property
    def rank(self) -> int:
        """Of the first file that the fix changed, from 1; 0 where none of those named was."""
        return next((at for at, path in enumerate(self.ranked, 1) if path in self.gold), 0)

    @property
    def right(self) -> bool:
        """Whether the first file was fixed."""
        return self.rank == 1

    def document(self) -> dict[str, Any]:
        """The case as plain values."""
        return {**asdict(self), "gold": list(self.gold), "ranked": list(self.ranked), "rank": self.rank}

    @classmethod
    def load(cls, said: dict[str, Any]) -> Scored:
        """What ``document`` gave."""
        given = {name: said[name] for name in cls.__dataclass_fields__}
        return cls(**{**given, "gold": tuple(given["gold"]), "ranked": tuple(given["ranked"])})


@dataclass(frozen=True, slots=True)
class Fifth:
    """Neighbours by confidence."""

    cases: int
    mean: float
    """Of their confidences."""
    right: int


@dataclass(frozen=True, slots=True)
class Threshold:
    """The smallest confidence from which on first files are right as often as wanted."""

    confidence: float
    cases: int
    """At it or above."""
    coverage: float
    """Their share of all."""
    precision: float


def hits(ranks: Sequence[int]) -> dict[int, float]:
    """The share of ranks (from 1; 0 is none) within the first k, by k."""
    return {k: sum(0 < rank <= k for rank in ranks) / max(len(ranks), 1) for k in PLACES}


def fifths(cases: Sequence[tuple[float, bool]]) -> tuple[Fifth, ...]:
    """Confidences and whether they were right, in fifths from the surest down; fewer parts of few cases."""
    surest = sorted(cases, key=lambda case: -case[0])
    parts = min(FIFTHS, len(surest))
    cuts = [surest[part * len(surest) // parts : (part + 1) * len(surest) // parts] for part in range(parts)]
    return tuple(Fifth(len(cut), statistics.fmean(c for c, _ in cut), sum(right for _, right in cut)) for cut in cuts)


def curve(cases: Sequence[tuple[float, bool]]) -> tuple[Threshold, ...]:
    """Precision and coverage at every confidence that occurs, from the surest down."""
    surest = sorted(cases, key=lambda case: -case[0])
    points: list[Threshold] = []
    right = 0
    for count, (confidence, was_right) in enumerate(surest, 1):
        right += was_right
        if count == len(surest) or surest[count][0] < confidence:
            points.append(Threshold(confidence, count, count / len(surest), right / count))
    return tuple(points)


def recommend(cases: Sequence[tuple[float, bool]], target: float) -> Threshold | None:
    """The threshold to speak from; None where no confidence reaches the target with enough cases behind it."""
    good = [point for point in curve(cases) if point.precision >= target and point.cases >= LEAST and point.confidence]
    return good[-1] if good else None


def calibration(cases: Sequence[Scored]) -> list[tuple[float, bool]]:
    """What the figures on confidence are made from."""
    return [(case.confidence, case.right) for case in cases]
