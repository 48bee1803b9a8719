"""Delete data that is no longer needed, a limited number of rows at a time."""

from __future__ import annotations

from dataclasses import dataclass

from bot.ceilings import day_of
from bot.store.database import Connection, Database, Value
from bot.store.repository_data import forget_repository

MOST = 500
"""Issues of one transaction."""
_STAMP = "UPDATE issues SET ended_at = ? WHERE ended IS NOT NULL AND ended_at IS NULL"
_ASKED_FOR_LONG_AGO = """
DELETE FROM usage WHERE scope >= 'api:' AND scope < 'api;'
    AND NOT EXISTS (SELECT 1 FROM api_runs WHERE usage.scope = 'api:' || api_runs.id)
"""
_STAMP_GONE = "UPDATE repositories SET gone_at = ? WHERE gone = 1 AND gone_at IS NULL"
_ENDED = "SELECT issue_key FROM issues WHERE ended IS NOT NULL AND pruned = 0 AND ended_at < ? LIMIT ?"
_RUNS = "SELECT run_no FROM runs WHERE issue_key = ? AND status <> 'waiting'"
_OVER = "SELECT issue_key, run_no FROM runs WHERE changed_at BETWEEN ? AND ? AND status NOT IN ('running', 'waiting')"
_GONE = "SELECT repository_key FROM repositories WHERE gone = 1 AND gone_at < ? ORDER BY repository_key LIMIT 20"


@dataclass(frozen=True, slots=True)
class Dropped:
    """The result of one round of pruning."""

    issues: int
    """Closed issues whose evidence, events and usage were deleted."""
    threads: tuple[str, ...]
    """Runs whose checkpoints are no longer needed."""
    more: bool
    """There may be more to delete."""


class Pruning:
    """The expired data of all repositories."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def closed_issues(self, older_than: float) -> Dropped:
        """Delete evidence, events and usage of issues that ended this many seconds ago; reports and answers remain."""
        now = self._database.clock()
        return await self._database.do(lambda db: _drop_closed(db, now, now - older_than))

    async def over(self, within: float) -> list[str]:
        """Return the threads of runs that ended within this many seconds, but more than a minute ago."""
        now = self._database.clock()
        given = (now - within, now - 60.0)
        rows = await self._database.read(lambda db: db.execute(_OVER, given).fetchall())
        return [f"{issue_key}:{number}" for issue_key, number in rows]

    async def counters(self, older_than: float) -> None:
        """Delete usage and limit counters older than this many seconds, and writes older than the hour that counts."""
        now = self._database.clock()
        await self._database.do(lambda db: _drop_counters(db, now, day_of(now - older_than)))

    async def gone_repositories(self, older_than: float) -> list[str]:
        """Delete all data of repositories that were removed this many seconds ago; returns their keys."""
        now = self._database.clock()
        return await self._database.do(lambda db: _forget_gone(db, now, now - older_than))

    async def known_repositories(self) -> set[str]:
        """Return the keys of all repositories that have stored data."""
        statement = "SELECT repository_key FROM repositories"
        return {key for (key,) in await self._database.read(lambda db: db.execute(statement).fetchall())}


def _drop_closed(db: Connection, now: float, before: float) -> Dropped:
    db.execute(_STAMP, (now,))
    keys = [key for (key,) in db.execute(_ENDED, (before, MOST)).fetchall()]
    threads: list[str] = []
    for key in keys:
        threads += [f"{key}:{number}" for (number,) in db.execute(_RUNS, (key,)).fetchall()]
        given: dict[str, Value] = {"first": f"{key}:", "last": f"{key};"}
        for table in ("evidence", "run_events"):
            db.execute(f"DELETE FROM {table} WHERE run >= :first AND run < :last", given)  # noqa: S608  the names are in this function
        db.execute("DELETE FROM usage WHERE scope >= :first AND scope < :last", given)
    db.executemany("UPDATE issues SET pruned = 1 WHERE issue_key = ?", [(key,) for key in keys])
    return Dropped(len(keys), tuple(threads), len(keys) == MOST)


def _drop_counters(db: Connection, now: float, day: str) -> None:
    # Rows of single runs remain: their ``day`` is ``run``, which sorts after all dates.
    db.execute("DELETE FROM usage WHERE day < ?", (day,))
    db.execute(_ASKED_FOR_LONG_AGO)
    db.execute("DELETE FROM limited WHERE day < ?", (day,))
    db.execute("DELETE FROM writes WHERE at < ?", (now - 3_600.0,))


def _forget_gone(db: Connection, now: float, before: float) -> list[str]:
    db.execute(_STAMP_GONE, (now,))
    keys = [key for (key,) in db.execute(_GONE, (before,)).fetchall()]
    for key in keys:
        forget_repository(db, key)
    return keys
