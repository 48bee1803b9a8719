"""Store the runs that clients request over HTTP: one row per run, and one job that fills it."""

from dataclasses import dataclass
from typing import Literal

from bot.jobs import ApiRun, Job
from bot.store.databases.database import Connection, TableGroup, query, transaction
from bot.store.jobs.deliveries import insert_job
from bot.store.jobs.queue import settle_job

KEPT = 30 * 86_400.0
"""Seconds for which a finished run can be retrieved."""
MAX_UNFINISHED = 100
"""Limit on queued and running runs, over all repositories."""

ApiRunState = Literal["queued", "running", "finished", "failed"]
_BY_JOB: dict[str, ApiRunState] = {"todo": "queued", "doing": "running"}
_GIVEN_UP = "failed after many attempts; see the server's log"
_GET = """
SELECT api_runs.id, api_runs.request, api_runs.created_at, api_runs.settled_at, api_runs.sha, api_runs.result,
    api_runs.fault, jobs.state
FROM api_runs LEFT JOIN jobs ON jobs.guid = 'api:' || api_runs.id AND jobs.ordinal = 0
"""


@dataclass(frozen=True, slots=True)
class StoredRun:
    """One row of ``api_runs``, with the state of its job."""

    id: str
    request: str
    """JSON of the request as the client sent it."""
    state: ApiRunState
    created_at: float
    settled_at: float | None
    sha: str
    """The commit that the run read; empty until the run ends."""
    result: str | None
    """JSON of the result (``triage schema`` describes it)."""
    fault: str | None


class TooManyRunsError(Exception):
    """The limit of unfinished runs is reached; no new run is accepted until some have ended."""


class ApiRuns(TableGroup):
    """The API runs of all repositories."""

    @transaction
    def accept(self, db: Connection, work: ApiRun, request: str, key: str | None) -> StoredRun:
        """Store a run and its job, or return the run of this idempotency key; raises ``TooManyRunsError``."""
        now = self._clock()
        # Expired runs go first, so that their idempotency keys are free again.
        db.execute("DELETE FROM api_runs WHERE settled_at < ?", (now - KEPT,))
        existing = _get(db, "api_runs.idempotency_key", key) if key is not None else None
        if existing is not None:
            return existing
        # Transactions are serializable, so concurrent requests cannot exceed the limit together.
        (waiting,) = db.execute("SELECT count(*) FROM api_runs WHERE settled_at IS NULL").fetchone()
        if waiting >= MAX_UNFINISHED:
            raise TooManyRunsError
        db.lock([work.key])
        columns = "id, repository_key, idempotency_key, request, created_at"
        row = (work.id, work.ref.key, key, request, now)
        db.execute(f"INSERT INTO api_runs ({columns}) VALUES (?, ?, ?, ?, ?)", row)
        insert_job(db, f"api:{work.id}", 0, work, now)
        return StoredRun(work.id, request, "queued", now, None, "", None, None)

    @query
    def get(self, db: Connection, number: str) -> StoredRun | None:
        """Return a run; None if it does not exist or has expired."""
        return _get(db, "api_runs.id", number)

    @transaction
    def settle(
        self, db: Connection, number: str, job: Job, *, sha: str = "", result: str | None, fault: str | None
    ) -> None:
        """Store a run's result and settle its job; raises ``JobTakenOverError`` without a change."""
        now = self._clock()
        statement = "UPDATE api_runs SET sha = ?, result = ?, fault = ?, settled_at = ? WHERE id = ?"
        db.execute(statement, (sha, result, fault, now, number))
        settle_job(db, job, fault or "answered", (), now)


def _get(db: Connection, column: str, value: str) -> StoredRun | None:
    row = db.execute(f"{_GET} WHERE {column} = ?", (value,)).fetchone()
    if row is None:
        return None
    number, request, created_at, settled_at, sha, result, fault, job = row
    # Its job is dead, parked or gone, so no worker is going to answer soon.
    if settled_at is None and job not in _BY_JOB:
        fault = _GIVEN_UP
    state = _BY_JOB.get(job, "failed") if settled_at is None else ("failed" if result is None else "finished")
    return StoredRun(number, request, state, created_at, settled_at, sha, result, fault)
