"""Store what workers share: leases, heartbeats, wake-ups, and metrics, which are summed over workers and restarts.

On Postgres procrastinate's tables tell the workers that a job is due. A trigger stores a wake-up in the same
transaction that makes a job wait, so no statement can omit it, including one typed by hand. The jobs table decides what
a woken worker does, if anything.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from bot.store.databases.database import Connection, TableGroup, Value, query, transaction, upsert
from bot.store.jobs.queue import FEW, WAITING, free_jobs

# Check and change are one statement, so of two processes only one changes the row.
_TAKE = """
INSERT INTO leases (name, until) VALUES (:name, :until)
ON CONFLICT (name) DO UPDATE SET until = excluded.until
WHERE leases.until <= :now OR leases.until > :latest
"""
_SKEW = 60.0
"""Seconds by which clocks may differ, or by which a process may be late after it read its clock."""
_BEAT = upsert("leases", "name", "until, fault")
_OLD = "DELETE FROM leases WHERE name LIKE 'worker:%' AND until < ?"
_ALIVE = "SELECT fault FROM leases WHERE name LIKE 'worker:%' AND until >= ? ORDER BY fault"
Sample = tuple[str, tuple[tuple[str, str], ...]]
"""A sample's name and its sorted labels."""
_ADD = """
INSERT INTO metric_samples (name, labels, value) VALUES (?, ?, ?)
ON CONFLICT (name, labels) DO UPDATE SET value = metric_samples.value + excluded.value
"""
_SET = upsert("metric_samples", "name, labels", "value")
_QUEUE = "SELECT lane, state, count(*) FROM jobs WHERE state <> 'done' GROUP BY lane, state"
_OLDEST = "SELECT lane, min(due) FROM jobs WHERE state = 'todo' AND due <= ? GROUP BY lane"

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
# A job that was stored more than an hour before it is due has no wake-up yet, and others may be lost with a connection.
_FORGOTTEN = f"""
SELECT id, issue_key, lane, due, attempt FROM ({WAITING} LIMIT {MAX_CHECKED}) AS waiting WHERE NOT EXISTS (
    SELECT 1 FROM procrastinate_jobs AS wakeup
    WHERE wakeup.status = 'todo' AND wakeup.queue_name = waiting.lane
      AND wakeup.args ->> 'issue_key' = waiting.issue_key AND coalesce(wakeup.scheduled_at, now()) <= now()
)
"""


class Leases(TableGroup):
    """Leases, and the heartbeats of workers. Each expires by itself, so a dead process cannot hold one."""

    async def take(self, name: str, seconds: float) -> bool:
        """Take a lease for some seconds; False if a process, also this one, holds it, except by a wrong clock."""
        now = self._database.clock()
        until = now + seconds
        parameters: dict[str, Value] = {"name": name, "now": now, "until": until, "latest": until + _SKEW}
        return await self._change(_TAKE, parameters) > 0

    @transaction
    def record(self, db: Connection, place: str, seconds: float, fault: str = "") -> None:
        """Count a worker as alive for this many seconds, with what keeps it from working; empty if nothing does."""
        now = self._clock()
        db.execute(_BEAT, (f"worker:{place}", now + seconds, fault[:500]))
        # A worker has a new name after each start, so the rows of ended workers would accumulate.
        db.execute(_OLD, (now - 3_600.0,))

    async def alive(self) -> list[str]:
        """Return the fault of each worker that is alive, those without one first."""
        return [str(fault) for (fault,) in await self._rows(_ALIVE, (self._clock(),))]


class Workers(TableGroup):
    """The workers that share one database. Each of them checks all the others."""

    async def free_stalled(self, seconds: float, place: str) -> int:
        """Free the jobs of workers elsewhere without a heartbeat for some seconds, without blame; return how many."""
        parameters: dict[str, Value] = {"seconds": seconds, "ours": f"%@{place}"}
        # A query first, outside a transaction that could conflict with others: usually no worker has stalled.
        if not await self._row(_ANY_STALLED, parameters):
            return 0
        now = self._database.clock()
        return await self._database.do(lambda db: free_jobs(db, now, _STALLED, parameters, blame=False))

    async def active_attempts(self, place: str) -> set[tuple[int, int]]:
        """Return the ids and attempts of jobs that the store assigns to the workers of a place."""
        statement = "SELECT id, attempt FROM jobs WHERE state = 'doing' AND owner LIKE ?"
        rows = await self._rows(statement, (f"%{place}",))
        return {(number, attempt) for number, attempt in rows}

    @transaction
    def free(self, db: Connection, job: int, attempt: int) -> int:
        """Free a job that no worker works on because the response to its claim was lost; returns the number freed."""
        parameters: dict[str, Value] = {"id": job, "tried": attempt}
        return free_jobs(db, self._clock(), "id = :id AND attempt = :tried", parameters, blame=False)

    async def create_missing_wakeups(self) -> int:
        """Create wake-ups for due jobs that have none; returns their number."""
        now = self._database.clock()
        parameters: dict[str, Value] = {"now": now, "late": now - LATE}
        found = await self._rows(_FORGOTTEN, parameters)
        return await self._database.do(lambda db: _wake(db, found)) if found else 0


@dataclass(frozen=True, slots=True)
class QueueState:
    """The state of the queue."""

    jobs: Mapping[tuple[str, str], int]
    oldest: Mapping[str, float]
    """By lane, the age in seconds of the oldest due job that no worker has claimed."""


class StoreMetrics(TableGroup):
    """Numbers for monitoring; none of them is about a single repository."""

    @transaction
    def keep(self, db: Connection, added: Mapping[Sample, float], levels: Mapping[Sample, float]) -> None:
        """Add to the counters and set the gauges, in one transaction."""
        for statement, samples in ((_ADD, added), (_SET, levels)):
            # Labels are sorted, so equal labels have the same JSON and share a row.
            rows = [(name, json.dumps(labels), value) for (name, labels), value in samples.items()]
            if rows:
                db.executemany(statement, rows)

    async def samples(self) -> dict[Sample, float]:
        """Return all stored samples."""
        rows = await self._rows("SELECT name, labels, value FROM metric_samples ORDER BY name, labels")
        return {(name, tuple(map(tuple, json.loads(labels)))): float(value) for name, labels, value in rows}

    @query
    def queue(self, db: Connection) -> QueueState:
        """Return the current state of the queue."""
        now = self._clock()
        waited = {lane: max(0.0, now - float(due)) for lane, due in db.execute(_OLDEST, (now,))}
        return QueueState({(lane, state): int(count) for lane, state, count in db.execute(_QUEUE)}, waited)


def _wake(db: Connection, jobs: list[tuple[Value, ...]]) -> int:
    for job in jobs:
        db.execute("SELECT tracehound_wake(?, ?, ?, ?, ?)", job)
    return len(jobs)
