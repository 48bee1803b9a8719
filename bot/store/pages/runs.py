"""Query runs for lists and pages."""

from __future__ import annotations

from dataclasses import dataclass

from bot.ports import AskedQuestion
from bot.report.document import Result
from bot.store.database import Database
from bot.store.evidence import RunEvidence
from bot.store.pages.keys import Keys, visible
from bot.store.pages.rows import COLUMNS, FROM, LISTED, Listing, Place, RunFilter, RunRow, listed, read_row
from bot.store.questions import Questions
from bot.store.run_events import Event, RunEvents
from bot.store.tenant import Tenant
from nodes.evidence import Evidence

WATCHED = 50
"""Number of recently changed runs that are checked for changes."""


@dataclass(frozen=True, slots=True)
class FullRun:
    """A run with its result."""

    row: RunRow
    sha: str
    config_hash: str
    result: Result | None


class Runs:
    """The runs of all known repositories."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def listing(
        self, wanted: RunFilter, keys: Keys, *, before: Place | None = None, after: Place | None = None
    ) -> Listing:
        """Return a page of runs: those before a position, those after it, or the newest."""
        rows = await self._database.read(lambda db: listed(db, wanted, keys, before=before, after=after))
        more, rows = len(rows) > LISTED, rows[:LISTED]
        if after is not None:
            rows.reverse()
        newer = bool(rows) and (before is not None or (after is not None and more))
        older = bool(rows) and (more or after is not None)
        return Listing(tuple(rows), Place.of(rows[0]) if newer else None, Place.of(rows[-1]) if older else None)

    async def changes(self) -> dict[tuple[str, int], float]:
        """Return the runs that changed last, and when; the query is cheap enough to run every second."""
        statement = "SELECT issue_key, run_no, changed_at FROM runs ORDER BY changed_at DESC LIMIT ?"
        rows = await self._database.read(lambda db: db.execute(statement, (WATCHED,)).fetchall())
        return {(key, number): changed for key, number, changed in rows}

    async def row(self, issue_key: str, number: int) -> RunRow | None:
        """Return one run of the list."""
        statement = f"SELECT {COLUMNS} {FROM} WHERE runs.issue_key = ? AND run_no = ?"
        row = await self._database.read(lambda db: db.execute(statement, (issue_key, number)).fetchone())
        return read_row(row) if row else None

    async def full(self, issue_key: str, number: int) -> FullRun | None:
        """Return one run with its result."""
        row = await self.row(issue_key, number)
        statement = "SELECT sha, config_hash, result FROM runs WHERE issue_key = ? AND run_no = ?"
        rest = await self._database.read(lambda db: db.execute(statement, (issue_key, number)).fetchone())
        if row is None or rest is None:
            return None
        sha, config_hash, result = rest
        return FullRun(row, sha, config_hash, Result.model_validate_json(result) if result else None)

    async def of_issue(self, issue_key: str) -> list[RunRow]:
        """Return every run of an issue, the first one first."""
        statement = f"SELECT {COLUMNS} {FROM} WHERE runs.issue_key = ? ORDER BY run_no"
        rows = await self._database.read(lambda db: db.execute(statement, (issue_key,)).fetchall())
        return [read_row(row) for row in rows]

    async def evidence(self, run: RunRow) -> list[Evidence]:
        """Return the evidence of a run, the best first."""
        found = await RunEvidence(self._database, run.thread).all()
        return sorted(found, key=lambda one: -one.score)

    async def events(self, run: RunRow) -> list[Event]:
        """Return the events of a run so far."""
        return await RunEvents(self._database, run.thread).after(0)

    async def questions(self, run: RunRow) -> tuple[AskedQuestion, ...]:
        """Return the questions that were asked on its issue."""
        return await Questions(self._database, Tenant(run.repository_key)).all(run.issue_key)

    async def cost(self, run: RunRow) -> int:
        """Return the cost of a run so far in millionths of a dollar; 0 unless the operator configured model prices."""
        statement = "SELECT cost_micros FROM usage WHERE scope = ? AND day = 'run'"
        row = await self._database.read(lambda db: db.execute(statement, (run.thread,)).fetchone())
        return int(row[0]) if row else 0

    async def posted(self, issue_key: str) -> str | None:
        """Return the App's comment on the issue as posted; None if there is none."""
        statement = """
            SELECT payload FROM effects
            WHERE issue_key = ? AND kind = 'sticky' AND subject = '' AND github_id IS NOT NULL
        """
        row = await self._database.read(lambda db: db.execute(statement, (issue_key,)).fetchone())
        return str(row[0]) if row else None

    async def brains(self, keys: Keys) -> list[str]:
        """Return the brains that have judged runs, as choices for a filter."""
        allowed, given = visible("repository_key", keys)
        statement = f"SELECT DISTINCT brain FROM runs WHERE brain <> '' AND {allowed} ORDER BY brain LIMIT 50"  # noqa: S608  placeholders
        rows = await self._database.read(lambda db: db.execute(statement, given).fetchall())
        return [name for (name,) in rows]
