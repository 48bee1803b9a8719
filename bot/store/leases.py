"""Leases: one process at a time does a task for all of them, and workers show that they are alive."""

from __future__ import annotations

from bot.store.databases.database import Connection, Table, Value

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

    async def record(self, place: str, seconds: float, fault: str = "") -> None:
        """Count a worker as alive for this many seconds, with what keeps it from working; empty if nothing does."""
        now = self._database.clock()
        parameters: dict[str, Value] = {"name": f"worker:{place}", "until": now + seconds, "fault": fault[:500]}
        await self._database.do(lambda db: _record(db, parameters, now))

    async def alive(self) -> list[str]:
        """Return the fault of each worker that is alive, those without one first."""
        now = self._database.clock()
        rows = await self._rows(_ALIVE, (now,))
        return [str(fault) for (fault,) in rows]


def _record(db: Connection, parameters: dict[str, Value], now: float) -> None:
    db.execute(_BEAT, parameters)
    # A worker has a new name after each start, so the rows of ended workers would accumulate.
    db.execute(_OLD, (now - 3_600.0,))
