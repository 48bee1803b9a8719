"""Leases: let one process at a time do a task for all of them."""

from __future__ import annotations

from bot.store.database import Database, Value

_TAKE = """
INSERT INTO leases (name, until) VALUES (:name, :until)
ON CONFLICT (name) DO UPDATE SET until = excluded.until
WHERE leases.until <= :now OR leases.until > :latest
"""
_SKEW = 60.0
"""Seconds by which clocks may differ, or by which a process may be late after it read its clock."""


class Leases:
    """Each lease expires by itself, so a dead process cannot hold one."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def take(self, name: str, seconds: float) -> bool:
        """Take a lease for this many seconds; False if any process, including this one, still holds it.

        A lease that ends much later than a new one would was taken with a wrong clock, and is ignored.
        """
        now = self._database.clock()
        given: dict[str, Value] = {"name": name, "now": now, "until": now + seconds, "latest": now + seconds + _SKEW}
        return await self._database.do(lambda db: db.execute(_TAKE, given).rowcount) > 0

    async def release(self, name: str) -> None:
        """Release the lease, so that the next process can take it at once."""
        await self._database.do(lambda db: db.execute("DELETE FROM leases WHERE name = ?", (name,)).rowcount)
