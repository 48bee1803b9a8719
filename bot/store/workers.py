"""Who of many works still, and what is freed of whoever does not; by the clock and the heartbeats of Postgres."""

from __future__ import annotations

from bot.store.database import Connection, Database, Value
from bot.store.jobs import WAITING, free_jobs

LATE = 2.0
"""Seconds after which a job that could be begun and has no wake-up is given one."""
MOST = 500
"""Jobs that are looked at for that, those first that are due longest."""

# An owner is a worker's number in procrastinate's table, then where it works.
_STALLED = """
NOT EXISTS (
    SELECT 1 FROM procrastinate_workers AS worker
    WHERE CAST(worker.id AS TEXT) = split_part(jobs.owner, '@', 1)
      AND worker.last_heartbeat > now() - make_interval(secs => :seconds)
)
"""
_ANY_STALLED = f"SELECT 1 FROM jobs WHERE state = 'doing' AND {_STALLED} LIMIT 1"  # noqa: S608  no input in it
_FORGOTTEN = f"""
SELECT id, issue_key, lane, due, attempt FROM ({WAITING} LIMIT {MOST}) AS waiting WHERE NOT EXISTS (
    SELECT 1 FROM procrastinate_jobs AS wakeup
    WHERE wakeup.status = 'todo' AND wakeup.queue_name = waiting.lane
      AND wakeup.args ->> 'issue_key' = waiting.issue_key AND coalesce(wakeup.scheduled_at, now()) <= now()
)
"""  # noqa: S608  as above


class Workers:
    """Those that share one database. Each of them looks after all."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def free_stalled(self, seconds: float) -> int:
        """Free jobs whose worker gave no sign of life for so long; says how many.

        Nobody is blamed: its machine may have stopped as well as the job that it worked on.
        """
        given: dict[str, Value] = {"seconds": seconds}
        # Looked for first, outside a transaction that others could meet: mostly there is none.
        if not await self._database.read(lambda db: db.execute(_ANY_STALLED, given).fetchone()):
            return 0
        now = self._database.clock()
        return await self._database.do(lambda db: free_jobs(db, now, _STALLED, given, blame=False))

    async def in_hand(self, place: str) -> set[tuple[int, int]]:
        """The jobs, and which attempts, that the workers of a place have in hand as far as the store knows."""
        statement = "SELECT id, attempt FROM jobs WHERE state = 'doing' AND owner LIKE ?"
        rows = await self._database.read(lambda db: db.execute(statement, (f"%{place}",)).fetchall())
        return {(number, attempt) for number, attempt in rows}

    async def free(self, job: int, attempt: int) -> int:
        """Free one that nobody works on: the answer to its claim was lost. Says how many that were."""
        given: dict[str, Value] = {"id": job, "tried": attempt}
        now = self._database.clock()
        return await self._database.do(
            lambda db: free_jobs(db, now, "id = :id AND attempt = :tried", given, blame=False)
        )

    async def wake_forgotten(self) -> int:
        """See to it that whatever could be begun has a wake-up; says how many had none."""
        now = self._database.clock()
        given: dict[str, Value] = {"now": now, "late": now - LATE}
        found = await self._database.read(lambda db: db.execute(_FORGOTTEN, given).fetchall())
        return await self._database.do(lambda db: _wake(db, found)) if found else 0


def _wake(db: Connection, jobs: list[tuple[Value, ...]]) -> int:
    for job in jobs:
        db.execute("SELECT tracehound_wake(?, ?, ?, ?, ?)", job)
    return len(jobs)
