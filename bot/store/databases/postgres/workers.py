"""Free the jobs of workers whose heartbeat stopped, by the clock and the heartbeats in Postgres."""

from __future__ import annotations

from bot.store.databases.database import Connection, Database, Value
from bot.store.jobs import FEW, WAITING, free_jobs

LATE = 2.0
"""Seconds after which a job that is due and has no wake-up gets one."""
MAX_CHECKED = 500
"""Limit on the jobs checked for that; those that have been due longest come first."""

# An owner is a worker's id in procrastinate's table, ``@``, and the worker's place. The process that asks is alive,
# however late its heartbeat is. The time doubles for a job that was interrupted often: on a machine where every worker
# is slow, they would otherwise take each job from each other until it is dead.
_STALLED = f"""
owner NOT LIKE :ours AND NOT EXISTS (
    SELECT 1 FROM procrastinate_workers AS worker
    WHERE CAST(worker.id AS TEXT) = split_part(jobs.owner, '@', 1)
      AND worker.last_heartbeat > now() - make_interval(
          secs => :seconds * power(2, least(greatest(jobs.attempt - jobs.waited - {FEW}, 0), 6)))
)
"""
_ANY_STALLED = f"SELECT 1 FROM jobs WHERE state = 'doing' AND {_STALLED} LIMIT 1"
# A job that was due later than ``AHEAD`` has no wake-up yet, and others may be lost with a connection.
_FORGOTTEN = f"""
SELECT id, issue_key, lane, due, attempt FROM ({WAITING} LIMIT {MAX_CHECKED}) AS waiting WHERE NOT EXISTS (
    SELECT 1 FROM procrastinate_jobs AS wakeup
    WHERE wakeup.status = 'todo' AND wakeup.queue_name = waiting.lane
      AND wakeup.args ->> 'issue_key' = waiting.issue_key AND coalesce(wakeup.scheduled_at, now()) <= now()
)
"""


class Workers:
    """The workers that share one database. Each of them checks all the others."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def free_stalled(self, seconds: float, place: str) -> int:
        """Free the jobs of workers at other places without a heartbeat for this many seconds; returns the number freed.

        The jobs are not blamed: the machine may have stopped as well as the job.
        """
        parameters: dict[str, Value] = {"seconds": seconds, "ours": f"%@{place}"}
        # A query first, outside a transaction that could conflict with others: usually no worker has stalled.
        if not await self._database.read(lambda db: db.execute(_ANY_STALLED, parameters).fetchone()):
            return 0
        now = self._database.clock()
        return await self._database.do(lambda db: free_jobs(db, now, _STALLED, parameters, blame=False))

    async def active_attempts(self, place: str) -> set[tuple[int, int]]:
        """Return the ids and attempts of jobs that the store assigns to the workers of a place."""
        statement = "SELECT id, attempt FROM jobs WHERE state = 'doing' AND owner LIKE ?"
        rows = await self._database.read(lambda db: db.execute(statement, (f"%{place}",)).fetchall())
        return {(number, attempt) for number, attempt in rows}

    async def free(self, job: int, attempt: int) -> int:
        """Free a job that no worker works on because the response to its claim was lost; returns the number freed."""
        parameters: dict[str, Value] = {"id": job, "tried": attempt}
        now = self._database.clock()
        return await self._database.do(
            lambda db: free_jobs(db, now, "id = :id AND attempt = :tried", parameters, blame=False)
        )

    async def create_missing_wakeups(self) -> int:
        """Create wake-ups for due jobs that have none; returns their number."""
        now = self._database.clock()
        parameters: dict[str, Value] = {"now": now, "late": now - LATE}
        found = await self._database.read(lambda db: db.execute(_FORGOTTEN, parameters).fetchall())
        return await self._database.do(lambda db: _wake(db, found)) if found else 0


def _wake(db: Connection, jobs: list[tuple[Value, ...]]) -> int:
    for job in jobs:
        db.execute("SELECT tracehound_wake(?, ?, ?, ?, ?)", job)
    return len(jobs)
