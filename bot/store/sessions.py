"""Store web sessions that were ended early; a cookie cannot be revoked, so ended sessions are listed."""

from __future__ import annotations

from bot.store.databases.database import Connection, Database

_END = "INSERT INTO ended_sessions (id, until) VALUES (?, ?) ON CONFLICT DO NOTHING"
_PAST = "DELETE FROM ended_sessions WHERE until < ?"
_ENDED = "SELECT 1 FROM ended_sessions WHERE id = ?"


class EndedSessions:
    """Ended sessions, for all servers that share the store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def end(self, session: str, lasts: float) -> None:
        """End a session whose cookie would be valid for at most this many seconds."""
        now = self._database.clock()
        await self._database.do(lambda db: _end(db, session, now + lasts, now))

    async def has_ended(self, session: str) -> bool:
        """Return whether a session was ended."""
        return await self._database.read(lambda db: db.execute(_ENDED, (session,)).fetchone()) is not None


def _end(db: Connection, session: str, until: float, now: float) -> None:
    db.execute(_PAST, (now,))
    db.execute(_END, (session, until))
