"""Accuracy of a repository's reports, over time and by confidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import urlencode

from bot.runs.promise import Fifth, Threshold, fifths, recommend
from bot.store.pages.repositories import OutcomeRow

TARGET = 0.9
"""Fraction of correct first files that the recommended threshold aims at."""
_PERIODS = 18


@dataclass(frozen=True, slots=True)
class Period:
    """A month, or everything that was settled before months were recorded."""

    name: str
    scored: int
    first: int
    """Reports whose first file was changed by the fix."""
    three: int
    """Reports with a fixed file among the first three."""
    unknown: int
    """Reports whose issue was closed without a fix that could be found."""


@dataclass(frozen=True, slots=True)
class Record:
    """The figures of one repository."""

    reports: int
    open: int
    scored: int
    first: int
    three: int
    unknown: int
    claims: int
    right_claims: int
    """Correct claims among the scored reports."""
    periods: tuple[Period, ...]
    fifths: tuple[Fifth, ...]
    """Confidence in the first file, and whether that file was correct, by fifths, the surest first."""
    threshold: Threshold | None


@dataclass(frozen=True, slots=True)
class Cases:
    """The addresses of the cases behind a repository's figures."""

    repository: str
    """owner/name."""

    def of(self, fix: str, **other: str) -> str:
        """Return the list of reports by their comparison with the fix, as ``rows.conditions`` names it."""
        return f"/runs?{urlencode({'repository': self.repository, 'fix': fix, **other})}"

    def around(self, fifth: Fifth) -> str:
        """Return the list of scored reports with the confidences of a fifth of them."""
        return self.of("scored", confidence=f"{fifth.least!r}-{fifth.most!r}")


def read(outcomes: Sequence[OutcomeRow]) -> Record:
    """Count the outcomes of a repository's reports."""
    scored = [outcome for outcome in outcomes if outcome.state == "scored"]
    claims = [item for item in scored if item.claimed]
    pairs = tuple((item.confidence, item.rank == 1) for item in scored)
    return Record(
        reports=len(outcomes),
        open=sum(outcome.state == "open" for outcome in outcomes),
        scored=len(scored),
        first=sum(item.rank == 1 for item in scored),
        three=sum(1 <= item.rank <= 3 for item in scored),
        unknown=sum(outcome.state == "unknown" for outcome in outcomes),
        claims=len(claims),
        right_claims=sum(claim.rank == 1 for claim in claims),
        periods=_periods(outcomes),
        fifths=fifths(pairs),
        threshold=recommend(pairs, TARGET),
    )


def _periods(outcomes: Sequence[OutcomeRow]) -> tuple[Period, ...]:
    months: dict[str, list[OutcomeRow]] = {}
    for outcome in outcomes:
        if outcome.state != "open":
            months.setdefault(_month(outcome.settled_at), []).append(outcome)
    return tuple(
        Period(
            name,
            sum(outcome.state == "scored" for outcome in rows),
            sum(outcome.state == "scored" and outcome.rank == 1 for outcome in rows),
            sum(outcome.state == "scored" and 1 <= outcome.rank <= 3 for outcome in rows),
            sum(outcome.state == "unknown" for outcome in rows),
        )
        for name, rows in list(months.items())[-_PERIODS:]
    )


def _month(settled_at: float | None) -> str:
    return datetime.fromtimestamp(settled_at, UTC).strftime("%Y-%m") if settled_at else "earlier"
