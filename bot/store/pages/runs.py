"""Runs as lists and pages show them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bot.ports import AskedQuestion
from bot.report.document import Result
from bot.store.database import Connection, Database, Value
from bot.store.evidence import RunEvidence
from bot.store.pages.keys import Keys, visible
from bot.store.questions import Questions
from bot.store.run_events import Event, RunEvents
from bot.store.runs import RunStatus
from bot.store.tenant import Tenant
from nodes.evidence import Evidence

LISTED = 25
"""Runs on one page."""
WATCHED = 50
"""Runs whose changes are looked for: the last ones that changed."""
# A run that goes on after an answer waits for nobody, though it is only settled when it ends or asks again.
_STATUS = """
CASE WHEN runs.status = 'waiting' AND NOT EXISTS (
    SELECT 1 FROM questions WHERE questions.issue_key = runs.issue_key AND questions.state = 'open'
) THEN 'running' ELSE runs.status END
"""
_COLUMNS = f"""
runs.issue_key, run_no, runs.repository_key, owner, name, title, {_STATUS}, brain, kind, claimed, confidence,
began_at, changed_at
"""
_FROM = "FROM runs JOIN repositories ON repositories.repository_key = runs.repository_key"
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


@dataclass(frozen=True, slots=True)
class FullRun:
    """A run with what it ended with."""

    row: RunRow
    sha: str
    config_hash: str
    result: Result | None


class Runs:
    """All runs of repositories that are known."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def listing(
        self, wanted: RunFilter, keys: Keys, *, before: Place | None = None, after: Place | None = None
    ) -> Listing:
        """A page of runs: those before a place, those after it, or the newest."""
        rows = await self._database.read(lambda db: _listed(db, wanted, keys, before=before, after=after))
        more, rows = len(rows) > LISTED, rows[:LISTED]
        if after is not None:
            rows.reverse()
        newer = bool(rows) and (before is not None or (after is not None and more))
        older = bool(rows) and (more or after is not None)
        return Listing(tuple(rows), Place.of(rows[0]) if newer else None, Place.of(rows[-1]) if older else None)

    async def changes(self) -> dict[tuple[str, int], float]:
        """The runs that changed last, and when; cheap enough to be asked for every second."""
        statement = "SELECT issue_key, run_no, changed_at FROM runs ORDER BY changed_at DESC LIMIT ?"
        rows = await self._database.read(lambda db: db.execute(statement, (WATCHED,)).fetchall())
        return {(key, number): changed for key, number, changed in rows}

    async def row(self, issue_key: str, number: int) -> RunRow | None:
        """One run of the list."""
        statement = f"SELECT {_COLUMNS} {_FROM} WHERE runs.issue_key = ? AND run_no = ?"
        row = await self._database.read(lambda db: db.execute(statement, (issue_key, number)).fetchone())
        return _row(row) if row else None

    async def full(self, issue_key: str, number: int) -> FullRun | None:
        """One run with its result."""
        row = await self.row(issue_key, number)
        statement = "SELECT sha, config_hash, result FROM runs WHERE issue_key = ? AND run_no = ?"
        rest = await self._database.read(lambda db: db.execute(statement, (issue_key, number)).fetchone())
        if row is None or rest is None:
            return None
        sha, config_hash, result = rest
        return FullRun(row, sha, config_hash, Result.model_validate_json(result) if result else None)

    async def of_issue(self, issue_key: str) -> list[RunRow]:
        """Every run of an issue, the first one first."""
        statement = f"SELECT {_COLUMNS} {_FROM} WHERE runs.issue_key = ? ORDER BY run_no"
        rows = await self._database.read(lambda db: db.execute(statement, (issue_key,)).fetchall())
        return [_row(row) for row in rows]

    async def evidence(self, run: RunRow) -> list[Evidence]:
        """What a run gathered, the best first."""
        found = await RunEvidence(self._database, run.thread).all()
        return sorted(found, key=lambda one: -one.score)

    async def events(self, run: RunRow) -> list[Event]:
        """What a run did so far."""
        return await RunEvents(self._database, run.thread).after(0)

    async def questions(self, run: RunRow) -> tuple[AskedQuestion, ...]:
        """What was asked on its issue."""
        return await Questions(self._database, Tenant(run.repository_key)).all(run.issue_key)

    async def posted(self, issue_key: str) -> str | None:
        """Our comment on the issue as GitHub has it; None where there is none."""
        statement = """
            SELECT payload FROM effects
            WHERE issue_key = ? AND kind = 'sticky' AND subject = '' AND github_id IS NOT NULL
        """
        row = await self._database.read(lambda db: db.execute(statement, (issue_key,)).fetchone())
        return str(row[0]) if row else None

    async def brains(self, keys: Keys) -> list[str]:
        """The names that judged, for a filter to choose from."""
        allowed, given = visible("repository_key", keys)
        statement = f"SELECT DISTINCT brain FROM runs WHERE brain <> '' AND {allowed} ORDER BY brain LIMIT 50"  # noqa: S608  placeholders
        rows = await self._database.read(lambda db: db.execute(statement, given).fetchall())
        return [name for (name,) in rows]


def _listed(
    db: Connection, wanted: RunFilter, keys: Keys, *, before: Place | None, after: Place | None
) -> list[RunRow]:
    where, given = _where(wanted, keys)
    order, place = "DESC", before
    if after is not None:
        order, place = "ASC", after
    if place is not None:
        where.append(f"{_PLACE} {'<' if order == 'DESC' else '>'} (?, ?, ?)")
        given += [place.began_at, place.issue_key, place.number]
    statement = f"""
        SELECT {_COLUMNS} {_FROM} WHERE {" AND ".join(where)}
        ORDER BY began_at {order}, runs.issue_key {order}, run_no {order} LIMIT ?
    """
    return [_row(row) for row in db.execute(statement, (*given, LISTED + 1)).fetchall()]


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


def _row(row: tuple[Any, ...]) -> RunRow:
    values = dict(zip(RunRow.__dataclass_fields__, row, strict=True))
    return RunRow(**{**values, "claimed": bool(values["claimed"])})
