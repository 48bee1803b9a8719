"""Store what workers share: leases, heartbeats, and metrics, which are summed over all workers and restarts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from bot.store.databases.database import Connection, Table, Value, query, transaction

# Check and change are one statement, so of two processes only one changes the row.
_TAKE = """
INSERT INTO leases (name, until) VALUES (:name, :until)
ON CONFLICT (name) DO UPDATE SET until = excluded.until
WHERE leases.until <= :now OR leases.until > :latest
"""
_SKEW = 60.0
"""Seconds by which clocks may differ, or by which a process may be late after it read its clock."""
_BEAT = """
INSERT INTO leases (name, until, fault) VALUES (:name, :until, :fault)
ON CONFLICT (name) DO UPDATE SET until = excluded.until, fault = excluded.fault
"""
_OLD = "DELETE FROM leases WHERE name LIKE 'worker:%' AND until < ?"
_ALIVE = "SELECT fault FROM leases WHERE name LIKE 'worker:%' AND until >= ? ORDER BY fault"
Sample = tuple[str, tuple[tuple[str, str], ...]]
"""A sample's name and its sorted labels."""
_ADD = """
INSERT INTO metric_samples (name, labels, value) VALUES (?, ?, ?)
ON CONFLICT (name, labels) DO UPDATE SET value = metric_samples.value + excluded.value
"""
_SET = """
INSERT INTO metric_samples (name, labels, value) VALUES (?, ?, ?)
ON CONFLICT (name, labels) DO UPDATE SET value = excluded.value
"""
_QUEUE = "SELECT lane, state, count(*) FROM jobs WHERE state <> 'done' GROUP BY lane, state"
_OLDEST = "SELECT lane, min(due) FROM jobs WHERE state = 'todo' AND due <= ? GROUP BY lane"


class Leases(Table):
    """Each lease expires by itself, so a dead process cannot hold one."""

    async def take(self, name: str, seconds: float) -> bool:
        """Take a lease for this many seconds; False if any process, including this one, still holds it.

        A lease that ends much later than a new one would was taken with a wrong clock, and is ignored.
        """
        now = self._database.clock()
        parameters: dict[str, Value] = {
            "name": name,
            "now": now,
            "until": now + seconds,
            "latest": now + seconds + _SKEW,
        }
        return await self._change(_TAKE, parameters) > 0

    async def release(self, name: str) -> None:
        """Release the lease, so that the next process can take it at once."""
        await self._change("DELETE FROM leases WHERE name = ?", (name,))


class Heartbeats(Table):
    """The heartbeats of all workers that share the store."""

    @transaction
    def record(self, db: Connection, place: str, seconds: float, fault: str = "") -> None:
        """Count a worker as alive for this many seconds, with what keeps it from working; empty if nothing does."""
        now = self._clock()
        db.execute(_BEAT, {"name": f"worker:{place}", "until": now + seconds, "fault": fault[:500]})
        # A worker has a new name after each start, so the rows of ended workers would accumulate.
        db.execute(_OLD, (now - 3_600.0,))

    async def alive(self) -> list[str]:
        """Return the fault of each worker that is alive, those without one first."""
        return [str(fault) for (fault,) in await self._rows(_ALIVE, (self._clock(),))]


@dataclass(frozen=True, slots=True)
class Queue:
    """The state of the queue."""

    jobs: Mapping[tuple[str, str], int]
    """Number of jobs by lane and state."""
    oldest: Mapping[str, float]
    """By lane, the age in seconds of the oldest due job that no worker has claimed."""


class Metrics(Table):
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
        statement = "SELECT name, labels, value FROM metric_samples ORDER BY name, labels"
        rows = await self._rows(statement)
        return {(name, tuple(map(tuple, json.loads(labels)))): float(value) for name, labels, value in rows}

    @query
    def queue(self, db: Connection) -> Queue:
        """Return the current state of the queue."""
        now = self._clock()
        waited = {lane: max(0.0, now - float(due)) for lane, due in db.execute(_OLDEST, (now,))}
        return Queue({(lane, state): int(count) for lane, state, count in db.execute(_QUEUE)}, waited)
