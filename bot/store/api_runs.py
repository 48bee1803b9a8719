"""Runs that were asked for over HTTP: each a row, and a job that fills it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from bot.jobs import ApiRun, Job
from bot.store.database import Connection, Database
from bot.store.jobs import insert_job, settle_job

KEPT = 30 * 86_400.0
"""Seconds for which a run that ended can be asked for."""
MOST_UNFINISHED = 100
"""Runs that wait or are under way, of all repositories together."""

ApiRunState = Literal["queued", "running", "finished", "failed"]
_BY_JOB: dict[str, ApiRunState] = {"todo": "queued", "doing": "running"}
_GIVEN_UP = "given up after many attempts; the server's log says why"
_GET = """
SELECT api_runs.id, api_runs.request, api_runs.created_at, api_runs.settled_at, api_runs.sha, api_runs.result,
    api_runs.fault, jobs.state
FROM api_runs LEFT JOIN jobs ON jobs.guid = 'api:' || api_runs.id AND jobs.ordinal = 0
"""


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A row."""

    id: str
    request: str
    """JSON, as it was asked for."""
    state: ApiRunState
    created_at: float
    settled_at: float | None
    sha: str
    """The commit that was read; empty until it ended."""
    result: str | None
    """JSON (``triage schema`` describes it)."""
    fault: str | None
    """Why there is no result."""


class TooManyRunsError(Exception):
    """No more runs are taken in until some have ended."""


class ApiRuns:
    """All of them."""

    def __init__(self, database: Database, clock: Callable[[], float] | None = None) -> None:
        self._database = database
        self._clock = clock or database.clock

    async def accept(self, work: ApiRun, request: str, key: str | None) -> StoredRun:
        """Store a run and its job in one transaction; one that was asked for with the same key is returned instead.

        Raises:
            TooManyRunsError: too many are unfinished.
        """
        now = self._clock()
        return await self._database.do(lambda db: _accept(db, work, request, key, now))

    async def get(self, number: str) -> StoredRun | None:
        """A run; None if there is none, or it was long ago."""
        return await self._database.read(lambda db: _get(db, "api_runs.id", number))

    async def settle(self, number: str, job: Job, *, sha: str = "", result: str | None, fault: str | None) -> None:
        """Note what a run came to and settle its job, in one transaction.

        Raises:
            NotOursError: another attempt has the job; nothing was changed.
        """
        now = self._clock()
        statement = "UPDATE api_runs SET sha = ?, result = ?, fault = ?, settled_at = ? WHERE id = ?"

        def work(db: Connection) -> None:
            db.execute(statement, (sha, result, fault, now, number))
            settle_job(db, job, fault or "answered", (), now)

        await self._database.do(work)


def _accept(db: Connection, work: ApiRun, request: str, key: str | None, now: float) -> StoredRun:
    db.execute("DELETE FROM api_runs WHERE settled_at < ?", (now - KEPT,))
    known = _get(db, "api_runs.idempotency_key", key) if key is not None else None
    if known is not None:
        return known
    (waiting,) = db.execute("SELECT count(*) FROM api_runs WHERE settled_at IS NULL").fetchone()
    if waiting >= MOST_UNFINISHED:
        raise TooManyRunsError
    db.lock([work.key])
    statement = """
        INSERT INTO api_runs (id, repository_key, idempotency_key, request, created_at) VALUES (?, ?, ?, ?, ?)
    """
    db.execute(statement, (work.id, work.ref.key, key, request, now))
    insert_job(db, f"api:{work.id}", 0, work, now)
    return StoredRun(work.id, request, "queued", now, None, "", None, None)


def _get(db: Connection, column: str, value: str) -> StoredRun | None:
    row = db.execute(f"{_GET} WHERE {column} = ?", (value,)).fetchone()
    if row is None:
        return None
    number, request, created_at, settled_at, sha, result, fault, job = row
    if settled_at is None and job not in _BY_JOB:
        fault = _GIVEN_UP
    state = _BY_JOB.get(job, "failed") if settled_at is None else ("failed" if result is None else "finished")
    return StoredRun(number, request, state, created_at, settled_at, sha, result, fault)
