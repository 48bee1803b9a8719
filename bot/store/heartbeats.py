"""Store the heartbeats of workers as leases, for servers that run no jobs themselves."""

from __future__ import annotations

from bot.store.database import Connection, Database, Value

_BEAT = """
INSERT INTO leases (name, until) VALUES (:name, :until) ON CONFLICT (name) DO UPDATE SET until = excluded.until
"""
_OLD = "DELETE FROM leases WHERE name LIKE 'worker:%' AND until < ?"
_ALIVE = "SELECT count(*) FROM leases WHERE name LIKE 'worker:%' AND until >= ?"


class Heartbeats:
    """The heartbeats of all workers that share the store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def record(self, place: str, seconds: float) -> None:
        """Count a worker as alive for this many seconds."""
        now = self._database.clock()
        given: dict[str, Value] = {"name": f"worker:{place}", "until": now + seconds}
        await self._database.do(lambda db: _record(db, given, now))

    async def alive(self) -> int:
        """Return the number of workers that are alive."""
        now = self._database.clock()
        return int(await self._database.read(lambda db: db.execute(_ALIVE, (now,)).fetchone()[0]))


def _record(db: Connection, given: dict[str, Value], now: float) -> None:
    db.execute(_BEAT, given)
    db.execute(_OLD, (now - 3_600.0,))
