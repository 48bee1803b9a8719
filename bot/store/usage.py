"""What was spent, per scope and day: reserved before a call, so that a limit holds under concurrency."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from bot.store.database import Connection, Database


def _today() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d")


class Usage:
    """The counters of one scope, such as a repository's key."""

    def __init__(self, database: Database, scope: str, today: Callable[[], str] = _today) -> None:
        self._database = database
        self._scope = scope
        self._today = today

    async def reserve(self, tokens: int, *, limit: int) -> bool:
        """Set one call's tokens aside; False, and nothing is, if the day's limit would be passed."""
        key = (self._scope, self._today())
        return await self._database.do(lambda db: _reserve(db, key, tokens, limit))

    async def correct(self, by_tokens: int) -> None:
        """Give back, or add, what a call took less or more than was set aside."""
        statement = (
            "UPDATE usage SET tokens = CASE WHEN tokens > ? THEN tokens - ? ELSE 0 END WHERE scope = ? AND day = ?"
        )
        given = (-by_tokens, -by_tokens, self._scope, self._today())
        await self._database.do(lambda db: db.execute(statement, given).rowcount)

    async def tokens(self) -> int:
        """What today has taken."""
        statement = "SELECT tokens FROM usage WHERE scope = ? AND day = ?"
        given = (self._scope, self._today())
        row = await self._database.read(lambda db: db.execute(statement, given).fetchone())
        return int(row[0]) if row else 0


def count_issue(db: Connection, scope: str, limit: int) -> bool:
    """Count one more issue today, within a transaction; False, and it is not, if that would pass the limit."""
    key = (scope, _today())
    db.execute("INSERT INTO usage (scope, day) VALUES (?, ?) ON CONFLICT DO NOTHING", key)
    statement = "UPDATE usage SET issues = issues + 1 WHERE scope = ? AND day = ? AND issues < ?"
    return db.execute(statement, (*key, limit)).rowcount > 0


def _reserve(db: Connection, key: tuple[str, str], tokens: int, limit: int) -> bool:
    db.execute("INSERT INTO usage (scope, day) VALUES (?, ?) ON CONFLICT DO NOTHING", key)
    statement = """
        UPDATE usage SET calls = calls + 1, tokens = tokens + ? WHERE scope = ? AND day = ? AND tokens + ? <= ?
    """
    return db.execute(statement, (tokens, *key, tokens, limit)).rowcount > 0
