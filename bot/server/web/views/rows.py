"""The list of runs: its rows, its conditions as a form and as a URL query, and the positions of its pages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, get_args
from urllib.parse import quote, urlencode

from bot.report.words import span
from bot.server.web.views.words import line
from bot.store.pages.repositories import RepositoryRow
from bot.store.pages.rows import Outcome, Place, RunRow
from bot.store.pages.selection import RunFilter
from bot.store.runs.issue_runs import RunStatus
from nodes.report import Kind

_TONES = {"running": "warn", "waiting": "warn", "finished": "good", "stopped": "soft", "failed": "bad"}
OUTCOMES: Mapping[Outcome, str] = {
    "right": "right",
    "wrong": "wrong",
    "awaiting": "awaiting fix",
    "unknown": "fix not found",
    "unclaimed": "no claim",
}
"""The outcomes of reports, in words."""
Options = Mapping[str, tuple[str, Mapping[str, Any]]]
"""The values of a condition: each with its name in the form and the fields of ``RunFilter`` that it sets."""
EARLIER = "earlier"
"""The month of comparisons whose time was not recorded."""
_MAX_VALUE = 200
_MAX_RUNS, _LATEST = 2**31, 1e11
"""Upper bounds of run numbers and times (seconds since 1970), so that both databases can compare them."""
_FIXES: Options = {
    "first": ("first file correct", {"ranks": (1, 1)}),
    "three": ("among the first three", {"ranks": (1, 3)}),
    "scored": ("fix found", {"fix": "scored"}),
    "unknown": ("fix not found", {"fix": "unknown"}),
}
_CAUSES: Options = {"yes": ("named", {"claimed": True}), "no": ("not named", {"claimed": False})}


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

        ``earlier`` runs of its issue are shown, the latest first, of ``number`` that there are.
        """
        # A new run has a title once it has read the issue.
        title = next((item.title for item in (run, *earlier) if item.title), "")
        below = tuple(cls.of(item) for item in earlier)
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
    def lasted(self) -> str:
        """Time from the run's start to its last change; empty until the run is over, or if the start is unknown."""
        return span(self.run.changed_at - self.run.began_at) if self.run.over and self.run.began_at else ""


def address(run: RunRow) -> str:
    """Return the path of a run's page."""
    return f"/runs/{quote(run.owner)}/{quote(run.name)}/{run.issue}/{run.number}"


@dataclass(frozen=True, slots=True)
class Condition:
    """A field of the form."""

    name: str
    label: str
    options: Options | None = None
    """The possible values; None if ``read`` reads any text."""
    read: Callable[[str], Mapping[str, Any]] = lambda text: {"text": text}
    """Returns the fields of ``RunFilter`` that a text sets, or raises ``ValueError``."""
    kind: str = "text"
    hint: str = ""


def _day(text: str) -> datetime:
    day = datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC)
    if not 1971 < day.year < 9000:
        raise ValueError(text)
    return day


def _until(text: str) -> Mapping[str, Any]:
    # The last day is included, so the bound is the start of the next day.
    return {"until": (_day(text) + timedelta(days=1)).timestamp()}


def _month(text: str) -> Mapping[str, Any]:
    """Read the month in which reports were compared with fixes."""
    if text == EARLIER:
        return {"settled": (0.0, 1.0)}
    first = _day(f"{text}-01")
    return {"settled": (first.timestamp(), (first + timedelta(days=31)).replace(day=1).timestamp())}


def _between(text: str) -> Mapping[str, Any]:
    """Read bounds such as 0.5-0.8."""
    low, high = map(float, text.split("-", 1))
    if not 0 <= low <= high <= 1:
        raise ValueError(text)
    return {"confidence": (low, high)}


def _named(field: str, values: Iterable[str]) -> Options:
    return {value: (value, {field: value}) for value in values}


def conditions(repositories: Iterable[RepositoryRow], brains: Iterable[str]) -> tuple[Condition, ...]:
    """Return the fields of the form, in its order."""
    keys: Options = {
        repository.full_name: (repository.full_name, {"repository": repository.key}) for repository in repositories
    }
    return (
        Condition("q", "Title", kind="search", hint="part of the title"),
        Condition("repository", "Repository", keys),
        Condition("status", "Status", _named("status", get_args(RunStatus))),
        Condition("outcome", "Outcome", {one: (name, {"outcome": one}) for one, name in OUTCOMES.items()}),
        Condition("kind", "Kind", _named("kind", get_args(Kind))),
        Condition("cause", "Cause", _CAUSES),
        Condition("brain", "Judged by", _named("brain", brains)),
        Condition("since", "From, UTC", read=lambda text: {"since": _day(text).timestamp()}, kind="date"),
        Condition("until", "To, UTC", read=_until, kind="date"),
        Condition("fix", "Fix", _FIXES),
        Condition("settled", "Fix found in, UTC", read=_month, hint="2026-01"),
        Condition("confidence", "Confidence", read=_between, hint="0.5-0.8"),
    )


@dataclass(frozen=True, slots=True)
class RequestedFilter:
    """A requested filter, as the form shows it and as the store takes it."""

    fields: Mapping[str, str]
    """Values by form field name; empty ones are left out."""
    filter: RunFilter
    faults: tuple[str, ...] = ()
    """Names of the conditions that were invalid and therefore ignored."""

    def address(self, **other: str) -> str:
        """Return the URL query of the same list with other or, if a value is empty, fewer fields."""
        return urlencode({name: value for name, value in {**self.fields, **other}.items() if value})


def read_conditions(query: Mapping[str, str], form: Sequence[Condition]) -> RequestedFilter:
    """Read the conditions from a URL query. Invalid ones are ignored and listed in ``faults``."""
    fields: dict[str, str] = {}
    faults: list[str] = []
    wanted: dict[str, Any] = {}
    for field in form:
        text = query.get(field.name, "").strip()[:_MAX_VALUE]
        if not text:
            continue
        try:
            wanted |= field.read(text) if field.options is None else field.options[text][1]
            fields[field.name] = text
        except (LookupError, ValueError, OverflowError):
            faults.append(field.name)
    return RequestedFilter(fields, RunFilter(**wanted), tuple(faults))


def read_place(text: str) -> Place | None:
    """Parse the position of a page in the list from a URL; None if it is invalid."""
    began_at, _, rest = text.partition("~")
    issue_key, _, number = rest.rpartition("~")
    try:
        at = Place(float(began_at), issue_key, int(number))
    except ValueError:
        return None
    return at if 0 <= at.number < _MAX_RUNS and 0 <= at.began_at < _LATEST else None


def write_place(at: Place | None) -> str:
    """Write a position for a URL; ``read_place`` parses it."""
    return f"{at.began_at!r}~{at.issue_key}~{at.number}" if at else ""
