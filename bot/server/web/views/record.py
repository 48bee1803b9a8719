"""Accuracy of a repository's reports, over time and by confidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import urlencode

from bot.report.drawing import interval, link, picture, text
from bot.report.words import percent
from bot.runs.promise import Fifth, Threshold, recommend, wilson
from bot.store.pages.repositories import OutcomeRow

TARGET = 0.9
"""Fraction of correct first files that the recommended threshold aims at."""
_PERIODS = 18
_WIDTH, _HEIGHT, _LEFT, _TOP, _BOTTOM = 720, 240, 48, 36, 190
_ROOM = 0.15
"""Fraction above which a bar has room for its own label."""


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

    @property
    def share(self) -> float | None:
        """Fraction of reports whose first file was correct; None without scored reports."""
        return self.first / self.scored if self.scored else None

    @property
    def percentage(self) -> str:
        """The same fraction as a percentage."""
        return percent(self.share)

    @property
    def interval(self) -> str:
        """Its interval at 95 %; empty without scored reports."""
        return between(self.first, self.scored)


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
    pairs: tuple[tuple[float, bool], ...]
    """Confidence in the first file, and whether that file was correct."""
    threshold: Threshold | None

    @property
    def first_share(self) -> str:
        """Percentage of reports whose first file was correct."""
        return percent(self.first / self.scored) if self.scored else "—"

    @property
    def three_share(self) -> str:
        """Percentage of reports with a fixed file among the first three."""
        return percent(self.three / self.scored) if self.scored else "—"

    @property
    def claim_share(self) -> str:
        """Percentage of claimed causes whose first file was fixed."""
        return percent(self.right_claims / self.claims) if self.claims else "—"


def between(right: int, cases: int) -> str:
    """Return the interval of a fraction at 95 % in words; empty without cases."""
    low, high = wilson(right, cases)
    return f"{low:.0%} to {high:.0%}" if cases else ""


@dataclass(frozen=True, slots=True)
class Cases:
    """The addresses of the cases behind a repository's figures."""

    repository: str
    """owner/name."""

    def of(self, fix: str, **other: str) -> str:
        """Return the list of reports by their comparison with the fix, as ``filters.FIXES`` names it."""
        return f"/runs?{urlencode({'repository': self.repository, 'fix': fix, **other})}"

    def around(self, fifth: Fifth) -> str:
        """Return the list of scored reports with the confidences of a fifth of them."""
        return self.of("scored", confidence=f"{fifth.least!r}-{fifth.most!r}")


def read(outcomes: Sequence[OutcomeRow]) -> Record:
    """Count the outcomes of a repository's reports."""
    scored = [one for one in outcomes if one.state == "scored"]
    claims = [one for one in scored if one.claimed]
    pairs = tuple((one.confidence, one.rank == 1) for one in scored)
    return Record(
        reports=len(outcomes),
        open=sum(one.state == "open" for one in outcomes),
        scored=len(scored),
        first=sum(one.rank == 1 for one in scored),
        three=sum(1 <= one.rank <= 3 for one in scored),
        unknown=sum(one.state == "unknown" for one in outcomes),
        claims=len(claims),
        right_claims=sum(one.rank == 1 for one in claims),
        periods=_periods(outcomes),
        pairs=pairs,
        threshold=recommend(pairs, TARGET),
    )


def _periods(outcomes: Sequence[OutcomeRow]) -> tuple[Period, ...]:
    months: dict[str, list[OutcomeRow]] = {}
    for one in outcomes:
        if one.state != "open":
            months.setdefault(_month(one.settled_at), []).append(one)
    return tuple(
        Period(
            name,
            sum(one.state == "scored" for one in rows),
            sum(one.state == "scored" and one.rank == 1 for one in rows),
            sum(one.state == "scored" and 1 <= one.rank <= 3 for one in rows),
            sum(one.state == "unknown" for one in rows),
        )
        for name, rows in list(months.items())[-_PERIODS:]
    )


def _month(settled_at: float | None) -> str:
    return datetime.fromtimestamp(settled_at, UTC).strftime("%Y-%m") if settled_at else "earlier"


def draw(periods: Sequence[Period], cases: Cases) -> str | None:
    """Draw accuracy over time: per month the fraction of correct first files, and of fixed files among three.

    The line through a bar is the interval of its fraction at 95 %. A bar leads to its cases.
    """
    shown = [period for period in periods if period.scored]
    if not shown:
        return None
    step = (_WIDTH - _LEFT - 40) / max(len(shown), 1)
    parts = _axes()
    for at, period in enumerate(shown):
        x = _LEFT + step * (at + 0.5)
        parts += _column(period, x, min(step * 0.6, 56), cases)
    percentage = "; ".join(
        f"{p.name}: {p.first} of {p.scored} first files correct, {p.three} among three" for p in shown
    )
    return picture((_WIDTH, _HEIGHT), "Correct first files by month", percentage, parts, name="record", links=True)


def _y(share: float) -> float:
    return _BOTTOM - (_BOTTOM - _TOP) * share


def _axes() -> list[str]:
    return [
        f'<path class="axis" d="M{_LEFT} {_y(share):.1f}H{_WIDTH - 12}"/>'
        + text(_LEFT - 8, _y(share) + 4, f"{share:.0%}", "small soft", "end")
        for share in (0.0, 0.25, 0.5, 0.75, 1.0)
    ]


def _column(period: Period, x: float, width: float, cases: Cases) -> list[str]:
    three, first = period.three / period.scored, period.first / period.scored
    bar = f'x="{x - width / 2:.1f}" width="{width:.1f}" rx="3"'
    low, high = wilson(period.first, period.scored)
    among = f'<rect class="weak" {bar} y="{_y(three):.1f}" height="{_BOTTOM - _y(three):.1f}"/>'
    first_bar = f'<rect class="bar" {bar} y="{_y(first):.1f}" height="{_BOTTOM - _y(first):.1f}"/>'
    counted = f"{period.first} of {period.scored}"
    says = (
        f"{period.name}: {period.three} of {period.scored} among the first three",
        f"{period.name}: {counted} first files correct, 95 % interval {period.interval}",
    )
    return [
        link(cases.of("three", settled=period.name), says[0], among),
        link(cases.of("first", settled=period.name), says[1], first_bar),
        interval(x + width * 0.36, _y(low), _y(high)),
        text(x - width * 0.1, _y(first) + 16, percent(first), "inside", "middle")
        if first > _ROOM
        else text(x - width * 0.1, _y(max(three, first)) - 6, percent(first), anchor="middle"),
        text(x, _BOTTOM + 18, period.name, "small soft", "middle"),
        text(x, _BOTTOM + 34, counted, "small soft", "middle"),
    ]
