"""Query pages of repositories, results and outcomes for the HTTP API."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from bot.store.databases.database import Connection, Database, Value
from bot.store.pages.repositories import COLUMNS, RepositoryRow, read_repository
from bot.store.pages.rows import Keys, RunRow, visible
from bot.store.runs.outcomes import OutcomeState


@dataclass(frozen=True, slots=True)
class StoredResult:
    """The stored result of a run."""

    row: RunRow
    sha: str
    result: str
    """JSON, as the release that wrote it shaped it; empty if the run has no result."""


@dataclass(frozen=True, slots=True)
class WholeOutcome:
    """A report's outcome with what was reported."""

    issue: int
    run: int
    sha: str
    claimed: bool
    confidence: float
    named: tuple[str, ...]
    """Paths in the report's order."""
    state: OutcomeState
    rank: int
    fix: str
    why: str
    settled_at: float | None


class Reading:
    """The queries; each reads one page."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def repositories(self, keys: Keys, after: str, most: int) -> list[RepositoryRow]:
        """Return repositories whose key comes after another one, by key."""
        allowed, parameters = visible("repositories.repository_key", keys)
        statement = f"""
            SELECT {COLUMNS} FROM repositories WHERE {allowed} AND repositories.repository_key > ?
            ORDER BY repositories.repository_key LIMIT ?
        """
        rows = await self._database.read(lambda db: db.execute(statement, (*parameters, after, most)).fetchall())
        return [read_repository(row) for row in rows]

    async def results(self, rows: Sequence[RunRow]) -> list[StoredResult]:
        """Return the results of runs, in the order of the runs."""
        return await self._database.read(lambda db: [_result(db, row) for row in rows])

    async def outcomes(
        self, key: str, *, state: str = "", after: int | None = None, most: int = 100
    ) -> list[WholeOutcome]:
        """Return outcomes of a repository's reports, the newest issue first.

        Args:
            key: the repository's key.
            state: only outcomes in this state; empty means all.
            after: the number of the issue that the page follows.
            most: their number.
        """
        # Within a repository, keys of issues sort by length and then by text as the numbers do.
        where, parameters = ["repository_key = ?"], [key]
        if state:
            where.append("state = ?")
            parameters.append(state)
        values: list[Value] = [*parameters]
        if after is not None:
            where.append("(length(issue_key), issue_key) < (?, ?)")
            values += [len(f"{key}#{after}"), f"{key}#{after}"]
        statement = f"""
            SELECT issue_key, run_no, sha, claimed, confidence, named, state, rank, fix, why, settled_at FROM outcomes
            WHERE {" AND ".join(where)} ORDER BY length(issue_key) DESC, issue_key DESC LIMIT ?
        """
        rows = await self._database.read(lambda db: db.execute(statement, (*values, most)).fetchall())
        return [
            WholeOutcome(
                int(issue.rpartition("#")[2]), run, sha, bool(claimed), confidence, tuple(json.loads(named)), *rest
            )
            for issue, run, sha, claimed, confidence, named, *rest in rows
        ]


def _result(db: Connection, row: RunRow) -> StoredResult:
    statement = "SELECT sha, result FROM runs WHERE issue_key = ? AND run_no = ?"
    found = db.execute(statement, (row.issue_key, row.number)).fetchone()
    sha, result = found or ("", None)
    return StoredResult(row, sha, result or "")
