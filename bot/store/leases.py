"""Leases: what one process at a time does for all of them."""

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
    """Each ends by itself, so that nobody who died keeps one."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def take(self, name: str, seconds: float) -> bool:
        """Have a lease for so many seconds; False if somebody has it still, this process included.

        A lease that ends much later than a new one would was taken by a clock that was wrong, and does not count.
        """
        now = self._database.clock()
        given: dict[str, Value] = {"name": name, "now": now, "until": now + seconds, "latest": now + seconds + _SKEW}
        return await self._database.do(lambda db: db.execute(_TAKE, given).rowcount) > 0

    async def give_back(self, name: str) -> None:
        """Let the next one have it at once."""
        await self._database.do(lambda db: db.execute("DELETE FROM leases WHERE name = ?", (name,)).rowcount)
