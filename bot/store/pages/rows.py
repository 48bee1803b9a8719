"""Select and read the rows of the list of runs, limited to what the viewer may see."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from bot.store.databases.database import Connection, Value
from bot.store.runs import RunStatus

Keys = Collection[str] | None
"""Keys of the repositories that the viewer may see; None means all."""


def visible(column: str, keys: Keys) -> tuple[str, list[Value]]:
    """Return a condition that the column is one of the keys, and its parameters."""
    if keys is None:
        return "1 = 1", []
    if not keys:
        # Postgres does not accept ``IN ()``.
        return "1 = 0", []
    return f"{column} IN ({', '.join('?' * len(keys))})", [*sorted(keys)]


LISTED = 25
"""Runs on one page."""
# A run that continues after an answer is stored as waiting until it ends or asks again. It is shown as running.
_STATUS = """
CASE WHEN runs.status = 'waiting' AND NOT EXISTS (
    SELECT 1 FROM questions WHERE questions.issue_key = runs.issue_key AND questions.state = 'open'
) THEN 'running' ELSE runs.status END
"""
COLUMNS = f"""
runs.issue_key, run_no, runs.repository_key, owner, name, title, {_STATUS}, brain, kind, claimed, confidence,
began_at, changed_at
"""
FROM = "FROM runs JOIN repositories ON repositories.repository_key = runs.repository_key"
_PLACE = "(began_at, runs.issue_key, run_no)"


@dataclass(frozen=True, slots=True)
class RunRow:
    """One run in a list."""

    issue_key: str
    number: int
    repository_key: str
    owner: str
    name: str
    title: str
    """The issue's title when the run read it, with secrets masked; empty for runs of older releases."""
    status: RunStatus
    brain: str
    kind: str
    """Kind of the issue according to the report; empty without a report."""
    claimed: bool
    confidence: float | None
    began_at: float
    """Seconds since 1970; 0 for runs of older releases."""
    changed_at: float

    @property
    def issue(self) -> int:
        """The issue's number."""
        return int(self.issue_key.rpartition("#")[2])

    @property
    def thread(self) -> str:
        """The key of its evidence and events."""
        return f"{self.issue_key}:{self.number}"

    @property
    def over(self) -> bool:
        """Whether the run has ended."""
        return self.status not in ("running", "waiting")


@dataclass(frozen=True, slots=True)
class RunFilter:
    """A filter for runs; an empty or None field matches all."""

    repository: str = ""
    """Key of the repository."""
    issue: int | None = None
    """Number of the issue; it requires the repository."""
    status: str = ""
    kind: str = ""
    claimed: bool | None = None
    brain: str = ""
    text: str = ""
    """A part of the title; ASCII letters match in any case."""
    since: float | None = None
    until: float | None = None
    """Matches runs that began before this time."""

    @property
    def issue_key(self) -> str:
        """Key of the issue; empty if any issue matches."""
        return "" if self.issue is None else f"{self.repository}#{self.issue}"

    def matches(self, row: RunRow) -> bool:
        """Return whether the filter matches a run."""
        fields = (
            (self.repository, row.repository_key),
            (self.status, row.status),
            (self.kind, row.kind),
            (self.brain, row.brain),
            (self.issue_key, row.issue_key),
        )
        return (
            all(required in ("", value) for required, value in fields)
            and self.text.lower() in row.title.lower()
            and (self.claimed is None or (row.claimed == self.claimed and row.kind != ""))
            and (self.since is None or row.began_at >= self.since)
            and (self.until is None or row.began_at < self.until)
        )


@dataclass(frozen=True, slots=True)
class Place:
    """A position in the list: the key of one run."""

    began_at: float
    issue_key: str
    number: int

    @classmethod
    def of(cls, row: RunRow) -> Place:
        """Return the position of a run."""
        return cls(row.began_at, row.issue_key, row.number)


@dataclass(frozen=True, slots=True)
class Listing:
    """One page of the list, newest first."""

    rows: tuple[RunRow, ...]
    newer: Place | None
    """The first run of this page, to request the page before it; None on the first page."""
    older: Place | None


def listed(
    db: Connection, run_filter: RunFilter, keys: Keys, *, before: Place | None, after: Place | None, most: int = LISTED
) -> list[RunRow]:
    """Read one run more than a page shows, which shows whether there is another page."""
    where, parameters = _where(run_filter, keys)
    order, place = "DESC", before
    if after is not None:
        order, place = "ASC", after
    # Pages begin at a row instead of an offset: new runs do not shift them, and the index serves the comparison.
    if place is not None:
        where.append(f"{_PLACE} {'<' if order == 'DESC' else '>'} (?, ?, ?)")
        parameters += [place.began_at, place.issue_key, place.number]
    statement = f"""
        SELECT {COLUMNS} {FROM} WHERE {" AND ".join(where)}
        ORDER BY began_at {order}, runs.issue_key {order}, run_no {order} LIMIT ?
    """
    return [read_row(row) for row in db.execute(statement, (*parameters, most + 1)).fetchall()]


def _where(run_filter: RunFilter, keys: Keys) -> tuple[list[str], list[Value]]:
    allowed, parameters = visible("runs.repository_key", keys)
    optional: Sequence[tuple[str, Value]] = (
        ("runs.repository_key = ?", run_filter.repository or None),
        ("runs.issue_key = ?", run_filter.issue_key or None),
        (f"({_STATUS}) = ?", run_filter.status or None),
        ("kind = ?", run_filter.kind or None),
        ("kind <> '' AND claimed = ?", None if run_filter.claimed is None else int(run_filter.claimed)),
        ("brain = ?", run_filter.brain or None),
        ("lower(title) LIKE ? ESCAPE '!'", _pattern(run_filter.text) if run_filter.text else None),
        ("began_at >= ?", run_filter.since),
        ("began_at < ?", run_filter.until),
    )
    conditions = [(condition, value) for condition, value in optional if value is not None]
    return [allowed, *(condition for condition, _ in conditions)], [*parameters, *(value for _, value in conditions)]


def _pattern(text: str) -> str:
    escaped = "".join(f"!{c}" if c in "!%_" else c for c in text)
    # SQLite's lower() changes ASCII letters only.
    return f"%{''.join(c.lower() if c.isascii() else c for c in escaped)}%"


def read_row(row: tuple[Any, ...]) -> RunRow:
    """Convert a row of ``COLUMNS`` to a run."""
    values = dict(zip(RunRow.__dataclass_fields__, row, strict=True))
    return RunRow(**{**values, "claimed": bool(values["claimed"])})
