"""Rows of the list of runs: which ones are asked for, and how they are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bot.store.database import Connection, Value
from bot.store.pages.keys import Keys, visible
from bot.store.runs import RunStatus

LISTED = 25
"""Runs on one page."""
# A run that goes on after an answer waits for nobody, though it is only settled when it ends or asks again.
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
    """Of its issue when it was read, secrets masked; empty where an older release ran it."""
    status: RunStatus
    brain: str
    kind: str
    """Of its report; empty without one."""
    claimed: bool
    confidence: float | None
    began_at: float
    """Seconds since 1970; 0 where an older release ran it."""
    changed_at: float

    @property
    def issue(self) -> int:
        """The issue's number."""
        return int(self.issue_key.rpartition("#")[2])

    @property
    def thread(self) -> str:
        """What its evidence and events are filed under."""
        return f"{self.issue_key}:{self.number}"

    @property
    def over(self) -> bool:
        """Whether nothing follows."""
        return self.status not in ("running", "waiting")


@dataclass(frozen=True, slots=True)
class RunFilter:
    """Which runs to list; what is empty or None asks for nothing."""

    repository: str = ""
    """Its key."""
    status: str = ""
    kind: str = ""
    claimed: bool | None = None
    brain: str = ""
    text: str = ""
    """A part of the title, in any case of ASCII letters."""
    since: float | None = None
    until: float | None = None
    """Began before."""

    def matches(self, row: RunRow) -> bool:
        """Whether a run would be listed."""
        wanted = (
            (self.repository, row.repository_key),
            (self.status, row.status),
            (self.kind, row.kind),
            (self.brain, row.brain),
        )
        return (
            all(asked in ("", has) for asked, has in wanted)
            and self.text.lower() in row.title.lower()
            and (self.claimed is None or (row.claimed == self.claimed and row.kind != ""))
            and (self.since is None or row.began_at >= self.since)
            and (self.until is None or row.began_at < self.until)
        )


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page of the list ends."""

    began_at: float
    issue_key: str
    number: int

    @classmethod
    def of(cls, row: RunRow) -> Place:
        """The place of a run."""
        return cls(row.began_at, row.issue_key, row.number)


@dataclass(frozen=True, slots=True)
class Listing:
    """One page of the list, newest first."""

    rows: tuple[RunRow, ...]
    newer: Place | None
    """Where the page before this one begins; None on the first."""
    older: Place | None


def listed(db: Connection, wanted: RunFilter, keys: Keys, *, before: Place | None, after: Place | None) -> list[RunRow]:
    """Up to one run more than a page holds, so that whether there is more is known."""
    where, given = _where(wanted, keys)
    order, place = "DESC", before
    if after is not None:
        order, place = "ASC", after
    if place is not None:
        where.append(f"{_PLACE} {'<' if order == 'DESC' else '>'} (?, ?, ?)")
        given += [place.began_at, place.issue_key, place.number]
    statement = f"""
        SELECT {COLUMNS} {FROM} WHERE {" AND ".join(where)}
        ORDER BY began_at {order}, runs.issue_key {order}, run_no {order} LIMIT ?
    """
    return [read_row(row) for row in db.execute(statement, (*given, LISTED + 1)).fetchall()]


def _where(wanted: RunFilter, keys: Keys) -> tuple[list[str], list[Value]]:
    allowed, given = visible("runs.repository_key", keys)
    asked: Sequence[tuple[str, Value]] = (
        ("runs.repository_key = ?", wanted.repository or None),
        (f"({_STATUS}) = ?", wanted.status or None),
        ("kind = ?", wanted.kind or None),
        ("kind <> '' AND claimed = ?", None if wanted.claimed is None else int(wanted.claimed)),
        ("brain = ?", wanted.brain or None),
        ("lower(title) LIKE ? ESCAPE '!'", _pattern(wanted.text) if wanted.text else None),
        ("began_at >= ?", wanted.since),
        ("began_at < ?", wanted.until),
    )
    conditions = [(condition, value) for condition, value in asked if value is not None]
    return [allowed, *(condition for condition, _ in conditions)], [*given, *(value for _, value in conditions)]


def _pattern(text: str) -> str:
    escaped = "".join(f"!{c}" if c in "!%_" else c for c in text)
    return f"%{''.join(c.lower() if c.isascii() else c for c in escaped)}%"


def read_row(row: tuple[Any, ...]) -> RunRow:
    """A run out of ``COLUMNS``."""
    values = dict(zip(RunRow.__dataclass_fields__, row, strict=True))
    return RunRow(**{**values, "claimed": bool(values["claimed"])})
