"""Limit the rate of model calls over all processes that share the store."""

from __future__ import annotations

from dataclasses import dataclass

from bot.store.database import Connection, Database, Value

SHORTEST_TO_REFUSE = 20.0
"""Seconds. A caller with a shorter wait sleeps and retains its place in the queue; a longer wait is refused."""
_LONGEST = 6 * 3_600.0
_PROMISED = 3_600.0
_READ = "SELECT next_at, closed_until, promised FROM paces WHERE name = ?"
_WRITE = """
INSERT INTO paces (name, next_at, promised) VALUES (:name, :next_at, :promised)
ON CONFLICT (name) DO UPDATE SET next_at = excluded.next_at, promised = excluded.promised
"""
_CLOSE = """
INSERT INTO paces (name, closed_until) VALUES (:name, :until)
ON CONFLICT (name) DO UPDATE SET closed_until =
    CASE WHEN paces.closed_until BETWEEN :until AND :longest THEN paces.closed_until ELSE :until END
"""


@dataclass(frozen=True, slots=True)
class Slot:
    """When a call may be made, or when to ask again."""

    wait: float
    """Seconds."""
    granted: bool
    """The call is counted and may be made after the wait."""


class StoredPace:
    """Allows a burst of one minute's calls, then a steady rate (GCRA: one row, the time when the queue is empty)."""

    def __init__(self, database: Database, name: str, calls_per_minute: float) -> None:
        self._database = database
        self._name = name
        self._apart = 60.0 / calls_per_minute
        self._burst = max(calls_per_minute, 1.0)

    async def take(self) -> Slot:
        """Reserve a place in the queue if the wait is short; a refused caller receives its own time to ask again."""
        now = self._database.clock()
        return await self._database.do(lambda db: self._take(db, now))

    async def close(self, seconds: float) -> None:
        """Refuse all calls for this many seconds, because the model server asked for it."""
        now = self._database.clock()
        given: dict[str, Value] = {"name": self._name, "until": now + seconds, "longest": now + _LONGEST}
        await self._database.do(lambda db: db.execute(_CLOSE, given).rowcount)

    def _take(self, db: Connection, now: float) -> Slot:
        row = db.execute(_READ, (self._name,)).fetchone() or (0.0, 0.0, 0.0)
        # Ignore times too far ahead: a clock that was set back must not close the queue for a day.
        next_at, closed, promised = (at if at < now + _LONGEST else 0.0 for at in row)
        # ``next_at`` may be ahead of the clock by the calls of one burst.
        free = max(now, closed, next_at - (self._burst - 1) * self._apart)
        if free - now <= SHORTEST_TO_REFUSE:
            self._write(db, max(next_at, now) + self._apart, promised)
            return Slot(free - now, granted=True)
        # Refused callers get times one interval apart, since of those with one time all but one would be refused again.
        mine = promised + self._apart if free <= promised + self._apart <= free + _PROMISED else free
        self._write(db, next_at, mine)
        return Slot(mine - now, granted=False)

    def _write(self, db: Connection, next_at: float, promised: float) -> None:
        db.execute(_WRITE, {"name": self._name, "next_at": next_at, "promised": promised})
