"""The list of runs: its rows, its conditions as a form and as a URL query, and the positions of its pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args
from urllib.parse import quote, urlencode

from bot.report.words import span
from bot.server.web.views.words import line
from bot.store.pages.repositories import RepositoryRow
from bot.store.pages.rows import Outcome, Place, RunFilter, RunRow
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
_MAX_VALUE = 200
_MAX_RUNS, _LATEST = 2**31, 1e11
"""Upper bounds of run numbers and times (seconds since 1970), so that both databases can compare them."""
_FIXES: Options = {
    "first": ("first file correct", {"within": 1}),
    "three": ("among the first three", {"within": 3}),
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
    """The possible values; None for a part of the title."""


def _named(field: str, values: Iterable[str]) -> Options:
    return {value: (value, {field: value}) for value in values}


def conditions(repositories: Iterable[RepositoryRow]) -> tuple[Condition, ...]:
    """Return the fields of the form, in its order."""
    keys: Options = {
        repository.full_name: (repository.full_name, {"repository": repository.key}) for repository in repositories
    }
    return (
        Condition("q", "Title"),
        Condition("repository", "Repository", keys),
        Condition("status", "Status", _named("status", get_args(RunStatus))),
        Condition("outcome", "Outcome", {one: (name, {"outcome": one}) for one, name in OUTCOMES.items()}),
        Condition("kind", "Kind", _named("kind", get_args(Kind))),
        Condition("cause", "Cause", _CAUSES),
        Condition("fix", "Fix", _FIXES),
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
        value = query.get(field.name, "").strip()[:_MAX_VALUE]
        if value and field.options is not None and value not in field.options:
            faults.append(field.name)
        elif value:
            fields[field.name] = value
            wanted |= {"text": value} if field.options is None else field.options[value][1]
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
