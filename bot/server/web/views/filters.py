"""The list of runs: its filter as a URL query, and one run as a row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Literal, get_args
from urllib.parse import quote, urlencode

from bot.report.words import percent, span
from bot.server.web.views.words import Moment, line, moment
from bot.store.pages.repositories import RepositoryRow
from bot.store.pages.rows import Outcome, Place, RunRow
from bot.store.pages.runs import Counts
from bot.store.pages.selection import FACETS, RunFilter
from bot.store.runs import RunStatus
from nodes.report import Kind

_TONES: dict[RunStatus, Literal["good", "warn", "bad", "soft"]] = {
    "running": "warn",
    "waiting": "warn",
    "finished": "good",
    "stopped": "soft",
    "failed": "bad",
}


OUTCOMES: Mapping[Outcome, str] = {
    "right": "right",
    "wrong": "wrong",
    "awaiting": "awaiting fix",
    "unknown": "fix not found",
    "unclaimed": "no claim",
}
"""The outcomes of reports, in words."""


@dataclass(frozen=True, slots=True)
class Row:
    """A run with the texts of its row."""

    run: RunRow
    title: str
    tone: str
    address: str
    earlier: tuple[Row, ...] = ()
    """Earlier runs of the issue that the list shows below this one, the latest first."""
    more: int = 0
    """Earlier runs that it does not show."""

    @classmethod
    def of(cls, run: RunRow, earlier: Sequence[RunRow] = (), number: int = 0) -> Row:
        """Build the row of a run.

        Args:
            run: the run.
            earlier: earlier runs of its issue to show, the latest first.
            number: how many earlier runs there are.
        """
        # A new run has a title once it has read the issue.
        title = next((one.title for one in (run, *earlier) if one.title), "")
        below = tuple(cls.of(one) for one in earlier)
        return cls(run, line(title) or "Untitled", _TONES[run.status], address(run), below, number - len(below))

    @property
    def outcome(self) -> str:
        """The outcome of its report; empty without a report and after a later one."""
        return OUTCOMES.get(self.run.outcome, "")

    @property
    def is_judged(self) -> bool:
        """Whether a person judged the report and no fix was compared yet."""
        return self.run.outcome in ("right", "wrong") and self.run.fix != "scored"

    @property
    def place(self) -> str:
        """The claimed file; empty if none is claimed."""
        return line(self.run.place)

    @property
    def symbol(self) -> str:
        """The claimed function; empty if none is claimed."""
        return line(self.run.symbol)

    @property
    def confidence(self) -> str:
        """The confidence of its report as a percentage."""
        return percent(self.run.confidence)

    @property
    def began(self) -> Moment | None:
        """When the run began."""
        return moment(self.run.began_at)

    @property
    def lasted(self) -> str:
        """Time from the run's start to its last change; empty until the run is over, or if the start is unknown."""
        return span(self.run.changed_at - self.run.began_at) if self.run.over and self.run.began_at else ""


def address(run: RunRow) -> str:
    """Return the path of a run's page."""
    return f"/runs/{quote(run.owner)}/{quote(run.name)}/{run.issue}/{run.number}"


STATUSES = get_args(RunStatus)
KINDS = get_args(Kind)
CAUSES = {"yes": True, "no": False}
FIXES: Mapping[str, tuple[str, RunFilter]] = {
    "first": ("first file correct", RunFilter(ranks=(1, 1))),
    "three": ("among the first three", RunFilter(ranks=(1, 3))),
    "scored": ("fix found", RunFilter(fix="scored")),
    "unknown": ("fix not found", RunFilter(fix="unknown")),
}
"""Comparisons of reports with fixes: in words, and as a filter."""
EARLIER = "earlier"
"""The month of comparisons whose time was not recorded."""
_RARE = ("kind", "cause", "brain", "since", "until", "fix", "settled", "confidence")
_NAMES = ("repository", "status", "outcome", "q", *_RARE)
_LONGEST = 200
_MAX_RUNS, _LATEST = 2**31, 1e11
"""Upper bounds of run numbers and times (seconds since 1970), so that both databases can compare them."""


@dataclass(frozen=True, slots=True)
class RequestedFilter:
    """A requested filter, as the form shows it and as the store takes it."""

    fields: Mapping[str, str]
    """Values by form field name; empty ones are left out."""
    filter: RunFilter
    faults: tuple[str, ...] = ()
    """Names of the conditions that were invalid and therefore ignored."""

    @property
    def narrow(self) -> bool:
        """Whether one of the less common conditions is set."""
        return any(name in self.fields for name in _RARE)

    def address(self, **other: str) -> str:
        """Return the URL query of the same list with additional fields."""
        return urlencode({**self.fields, **other})

    def chosen(self, name: str, value: str) -> str:
        """Return the URL query of the list with another value of a field; with the value that it has, without it."""
        fields = {**self.fields, name: "" if self.fields.get(name) == value else value}
        return urlencode({name: value for name, value in fields.items() if value})


@dataclass(frozen=True, slots=True)
class Count:
    """A number of issues, shown above the list with a link to them."""

    name: str
    issues: int
    query: str
    """The URL query of the list of these issues, or without the condition if it is set."""
    is_set: bool


def counts(found: Counts, asked: RequestedFilter) -> tuple[tuple[str, tuple[Count, ...]], ...]:
    """Return the counts of the list by their title."""
    words = {"status": {one: one for one in STATUSES}, "kind": {one: one for one in KINDS}, "outcome": OUTCOMES}
    return tuple(
        (
            facet.capitalize(),
            tuple(
                Count(name, found.issues[facet][value], asked.chosen(facet, value), asked.fields.get(facet) == value)
                for value, name in words[facet].items()
                if value in found.issues[facet]
            ),
        )
        for facet in FACETS
    )


def read(query: Mapping[str, str], repositories: Sequence[RepositoryRow]) -> RequestedFilter:
    """Read the conditions from a URL query. Invalid ones are ignored and listed in ``faults``."""
    fields = {name: query.get(name, "").strip()[:_LONGEST] for name in _NAMES}
    keys = {one.full_name.lower(): one.key for one in repositories}
    faults: list[str] = []

    def one_of(name: str, known: Sequence[str]) -> str:
        if fields[name] and fields[name] not in known:
            faults.append(name)
            fields[name] = ""
        return fields[name]

    wanted = RunFilter(
        repository=keys.get(one_of("repository", [one.full_name for one in repositories]).lower(), ""),
        status=one_of("status", STATUSES),
        kind=one_of("kind", KINDS),
        claimed=CAUSES.get(one_of("cause", list(CAUSES))),
        brain=fields["brain"],
        text=fields["q"],
        outcome=one_of("outcome", [*OUTCOMES]),
        settled=_month(fields, faults),
        confidence=_between(fields, faults),
    )
    fix = FIXES[fields["fix"]][1] if one_of("fix", [*FIXES]) else RunFilter()
    since, until = _day(fields, "since", faults), _day(fields, "until", faults)
    days = replace(
        wanted,
        ranks=fix.ranks,
        fix=fix.fix,
        since=since.timestamp() if since else None,
        # ``until`` names the last day to include, so the bound is the start of the next day.
        until=(until + timedelta(days=1)).timestamp() if until else None,
    )
    return RequestedFilter({name: value for name, value in fields.items() if value}, days, tuple(faults))


def _day(fields: dict[str, str], name: str, faults: list[str]) -> datetime | None:
    if not fields[name]:
        return None
    try:
        day = datetime.strptime(fields[name], "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError:
        day = None
    if day is None or not 1971 < day.year < 9000:
        faults.append(name)
        fields[name] = ""
        return None
    return day


def _month(fields: dict[str, str], faults: list[str]) -> tuple[float, float] | None:
    """Return the bounds of the month in which reports were compared with fixes."""
    if fields["settled"] == EARLIER:
        return 0.0, 1.0
    if not fields["settled"]:
        return None
    month = {"settled": f"{fields['settled']}-01"}
    first = _day(month, "settled", faults)
    if first is None:
        fields["settled"] = ""
        return None
    return first.timestamp(), (first + timedelta(days=31)).replace(day=1).timestamp()


def _between(fields: dict[str, str], faults: list[str]) -> tuple[float, float] | None:
    """Return the bounds of a condition such as 0.5-0.8."""
    if not fields["confidence"]:
        return None
    low, _, high = fields["confidence"].partition("-")
    try:
        bounds = float(low), float(high)
    except ValueError:
        bounds = 1.0, 0.0
    if not 0 <= bounds[0] <= bounds[1] <= 1:
        faults.append("confidence")
        fields["confidence"] = ""
        return None
    return bounds


def place(text: str) -> Place | None:
    """Parse the position of a page in the list from a URL; None if it is invalid."""
    began_at, _, rest = text.partition("~")
    issue_key, _, number = rest.rpartition("~")
    try:
        at = Place(float(began_at), issue_key, int(number))
    except ValueError:
        return None
    return at if 0 <= at.number < _MAX_RUNS and 0 <= at.began_at < _LATEST else None


def written(at: Place | None) -> str:
    """Write a position for a URL; ``place`` parses it."""
    return f"{at.began_at!r}~{at.issue_key}~{at.number}" if at else ""
