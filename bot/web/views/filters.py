"""The filter of the list of runs: read from a URL query, and written back into one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import get_args
from urllib.parse import urlencode

from bot.store.pages.repositories import RepositoryRow
from bot.store.pages.rows import Place, RunFilter
from bot.store.runs import RunStatus
from nodes.report import Kind

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
