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
from bot.store.pages.rows import Place, RunFilter, RunRow
from bot.store.runs import RunStatus
from nodes.report import Kind

_TONES: dict[RunStatus, Literal["good", "warn", "bad", "soft"]] = {
    "running": "warn",
    "waiting": "warn",
    "finished": "good",
    "stopped": "soft",
    "failed": "bad",
}


@dataclass(frozen=True, slots=True)
class Row:
    """A run with the texts of its row."""

    run: RunRow
    title: str
    tone: str
    address: str

    @classmethod
    def of(cls, run: RunRow) -> Row:
        """Build the row of a run."""
        return cls(run, line(run.title) or "Untitled", _TONES[run.status], address(run))

    @property
    def confidence(self) -> str:
        """The confidence of its report as a percentage."""
        return percent(self.run.confidence)

    @property
    def claims(self) -> str:
        """Whether its report names a cause, in a short phrase; empty without a report."""
        return "" if not self.run.kind else "cause named" if self.run.claimed else "no cause"

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
_NAMES = ("repository", "status", "kind", "cause", "brain", "q", "since", "until")
_LONGEST = 200
_MOST_RUNS, _LATEST = 2**31, 1e11
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
        return any(name in self.fields for name in ("kind", "cause", "brain", "since", "until"))

    def address(self, **other: str) -> str:
        """Return the URL query of the same list with additional fields."""
        return urlencode({**self.fields, **other})


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
    )
    since, until = _day(fields, "since", faults), _day(fields, "until", faults)
    days = replace(
        wanted,
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


def place(text: str) -> Place | None:
    """Parse the position of a page in the list from a URL; None if it is invalid."""
    began_at, _, rest = text.partition("~")
    issue_key, _, number = rest.rpartition("~")
    try:
        at = Place(float(began_at), issue_key, int(number))
    except ValueError:
        return None
    return at if 0 <= at.number < _MOST_RUNS and 0 <= at.began_at < _LATEST else None


def written(at: Place | None) -> str:
    """Write a position for a URL; ``place`` parses it."""
    return f"{at.began_at!r}~{at.issue_key}~{at.number}" if at else ""
