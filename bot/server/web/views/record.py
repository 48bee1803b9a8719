"""Accuracy of a repository's reports, over time and by confidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from bot.runs.promise import Fifth, Threshold, fifths, recommend
from bot.store.pages.repositories import OutcomeRow

TARGET = 0.9
"""Fraction of correct first files that the recommended threshold aims at."""
_PERIODS = 18


@dataclass(frozen=True, slots=True)
class Period:
    """The reports of a month, or of a whole repository, that were compared with fixes."""

    name: str
    scored: int
    first: int
    """Reports whose first file was changed by the fix."""
    three: int
    """Reports with a fixed file among the first three."""
    unknown: int
    """Reports whose issue was closed without a fix that could be found."""

    @classmethod
    def of(cls, name: str, outcomes: Sequence[OutcomeRow]) -> Period:
        """Count outcomes."""
        ranks = [outcome.rank for outcome in outcomes if outcome.state == "scored"]
        unknown = sum(outcome.state == "unknown" for outcome in outcomes)
        return cls(name, len(ranks), ranks.count(1), sum(1 <= rank <= 3 for rank in ranks), unknown)


@dataclass(frozen=True, slots=True)
class Record:
    """The figures of one repository, or of several."""

    all: Period
    claims: Period
    """Of the reports that claimed a cause."""
    periods: tuple[Period, ...]
    """By month; reports of older releases, whose months were not recorded, are together."""
    fifths: tuple[Fifth, ...]
    """Confidence in the first file, and whether that file was correct, by fifths, the surest first."""
    threshold: Threshold | None


def read(outcomes: Sequence[OutcomeRow]) -> Record:
    """Count the outcomes of reports."""
    months: dict[str, list[OutcomeRow]] = {}
    for outcome in outcomes:
        if outcome.state != "open":
            months.setdefault(_month(outcome.settled_at), []).append(outcome)
    pairs = tuple((outcome.confidence, outcome.rank == 1) for outcome in outcomes if outcome.state == "scored")
    return Record(
        all=Period.of("", outcomes),
        claims=Period.of("", [outcome for outcome in outcomes if outcome.claimed]),
        periods=tuple(Period.of(name, rows) for name, rows in list(months.items())[-_PERIODS:]),
        fifths=fifths(pairs),
        threshold=recommend(pairs, TARGET),
    )


def _month(settled_at: float | None) -> str:
    return datetime.fromtimestamp(settled_at, UTC).strftime("%Y-%m") if settled_at else "earlier"
