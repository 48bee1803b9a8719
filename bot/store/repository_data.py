"""Export or delete what is stored: about one repository, or past its retention time."""

import base64
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bot.limits.ceilings import day_of
from bot.store.databases.database import Connection, Database, TableGroup, Value, query, transaction

_ISSUE = "issue_key >= :first AND issue_key < :last"
_RUN = "run >= :first AND run < :last"
_REPOSITORY = "repository_key = :key"
_SCOPE = "scope = :key OR (scope >= :first AND scope < :last) OR (scope >= :author AND scope < :authors)"
REPOSITORY_ROWS: Mapping[str, str] = {
    # Deliveries come before the jobs, because they are found by their jobs.
    "deliveries": f"guid IN (SELECT guid FROM jobs WHERE {_ISSUE})",
    **dict.fromkeys(("jobs", "signals", "commands", "issues", "runs"), _ISSUE),
    **dict.fromkeys(("run_events", "evidence"), _RUN),
    **dict.fromkeys(("questions", "effects", "label_actors", "relations", "outcomes", "feedback"), _ISSUE),
    **dict.fromkeys(("crashes", "crash_alerts", "past_issues", "past_walks", "limited", "api_runs"), _REPOSITORY),
    "usage": _SCOPE,
    # Nothing writes these any more; a later release drops them, when no process of this one's predecessor runs.
    "label_judgements": _ISSUE,
    **dict.fromkeys(("components", "permissions", "api_tokens", "repositories"), _REPOSITORY),
}
"""Table → condition that selects a repository's rows."""

_THREADS = f"SELECT issue_key, run_no FROM runs WHERE {_ISSUE} ORDER BY issue_key, run_no"
MAX_ISSUES = 500
"""Issues of one transaction."""
# In a row that an older release wrote the column is empty; its time then starts at the first round that finds it.
_STAMP = "UPDATE issues SET ended_at = ? WHERE ended IS NOT NULL AND ended_at IS NULL"
_ASKED_FOR_LONG_AGO = """
DELETE FROM usage WHERE scope >= 'api:' AND scope < 'api;'
    AND NOT EXISTS (SELECT 1 FROM api_runs WHERE usage.scope = 'api:' || api_runs.id)
"""
_STAMP_GONE = "UPDATE repositories SET gone_at = ? WHERE gone = 1 AND gone_at IS NULL"
_ENDED = "SELECT issue_key FROM issues WHERE ended IS NOT NULL AND pruned = 0 AND ended_at < ? LIMIT ?"
# A run that waits may be resumed after a reopening, so its checkpoint stays.
_RUNS = "SELECT run_no FROM runs WHERE issue_key = ? AND status <> 'waiting'"
_OVER = "SELECT issue_key, run_no FROM runs WHERE changed_at BETWEEN ? AND ? AND status NOT IN ('running', 'waiting')"
# Few at once, because one transaction deletes all rows of these repositories.
_GONE = "SELECT repository_key FROM repositories WHERE gone = 1 AND gone_at < ? ORDER BY repository_key LIMIT 20"


class RepositoryData(TableGroup):
    """One repository, in all tables."""

    def __init__(self, database: Database, repository_key: str) -> None:
        super().__init__(database)
        self.key = repository_key

    @query
    def rows(self, db: Connection, table: str) -> list[dict[str, Any]]:
        """Return the rows of a table as dicts by column, with values that JSON can represent."""
        found = db.execute(f"SELECT * FROM {table} WHERE {REPOSITORY_ROWS[table]}", _key_bounds(self.key))
        names = [column[0] for column in found.description]
        return [dict(zip(names, map(_readable, row), strict=True)) for row in found]

    async def threads(self) -> list[str]:
        """Return the threads (checkpoint keys) of the repository's runs."""
        rows = await self._rows(_THREADS, _key_bounds(self.key))
        return [f"{issue_key}:{number}" for issue_key, number in rows]

    async def counts(self) -> dict[str, int]:
        """Return the number of rows of each table."""
        return {table: len(await self.rows(table)) for table in REPOSITORY_ROWS}

    @transaction
    def forget(self, db: Connection) -> dict[str, int]:
        """Delete all of it; returns the number of rows deleted per table."""
        return _forget(db, self.key)


def _forget(db: Connection, key: str) -> dict[str, int]:
    bounds, tables = _key_bounds(key), REPOSITORY_ROWS.items()
    return {table: db.execute(f"DELETE FROM {table} WHERE {where}", bounds).rowcount for table, where in tables}


def _key_bounds(key: str) -> dict[str, Value]:
    """Return the bounds of a repository's keys: ``#`` precedes an issue's number, ``@`` an author's id."""
    # "$" follows "#" and "A" follows "@" in ASCII, so the ranges contain exactly the keys with these prefixes.
    return {"key": key, "first": f"{key}#", "last": f"{key}$", "author": f"{key}@", "authors": f"{key}A"}


def _readable(value: Any) -> Any:
    """Decompress deliveries, encode other bytes in base64, and parse JSON."""
    if isinstance(value, bytes | memoryview):
        raw = bytes(value)
        try:
            return _readable(zlib.decompress(raw).decode())
        except (zlib.error, UnicodeDecodeError):
            return base64.b64encode(raw).decode()
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


@dataclass(frozen=True, slots=True)
class Dropped:
    """The result of one round of pruning."""

    issues: int
    """Closed issues whose evidence, events and usage were deleted."""
    threads: tuple[str, ...]
    more: bool


class Pruning(TableGroup):
    """The expired data of all repositories."""

    @transaction
    def closed_issues(self, db: Connection, older_than: float) -> Dropped:
        """Delete evidence, events, usage and texts of issues that ended this many seconds ago; reports remain."""
        now = self._clock()
        db.execute(_STAMP, (now,))
        keys = [key for (key,) in db.execute(_ENDED, (now - older_than, MAX_ISSUES)).fetchall()]
        threads: list[str] = []
        for key in keys:
            threads += [f"{key}:{number}" for (number,) in db.execute(_RUNS, (key,)).fetchall()]
            parameters: dict[str, Value] = {"first": f"{key}:", "last": f"{key};"}
            for table in ("evidence", "run_events"):
                db.execute(f"DELETE FROM {table} WHERE run >= :first AND run < :last", parameters)
            db.execute("DELETE FROM usage WHERE scope >= :first AND scope < :last", parameters)
            db.execute("UPDATE runs SET body = '' WHERE issue_key = ?", (key,))
        db.executemany("UPDATE issues SET pruned = 1 WHERE issue_key = ?", [(key,) for key in keys])
        return Dropped(len(keys), tuple(threads), len(keys) == MAX_ISSUES)

    async def over(self, within: float) -> list[str]:
        """Return the threads of runs that ended within this many seconds, but more than a minute ago."""
        now = self._database.clock()
        # The worker deletes the checkpoints itself right after a run ends. After a minute only a kill can have
        # prevented that.
        rows = await self._rows(_OVER, (now - within, now - 60.0))
        return [f"{issue_key}:{number}" for issue_key, number in rows]

    @transaction
    def counters(self, db: Connection, older_than: float) -> None:
        """Delete usage and limit counters older than this many seconds, and writes and crashes that no longer count."""
        now = self._clock()
        day = day_of(now - older_than)
        # Rows of single runs remain: their ``day`` is ``run``, which sorts after all dates.
        db.execute("DELETE FROM usage WHERE day < ?", (day,))
        db.execute(_ASKED_FOR_LONG_AGO)
        db.execute("DELETE FROM limited WHERE day < ?", (day,))
        db.execute("DELETE FROM crashes WHERE at < ?", (now - 7 * 86_400.0,))
        db.execute("DELETE FROM writes WHERE at < ?", (now - 3_600.0,))

    @transaction
    def gone_repositories(self, db: Connection, older_than: float) -> list[str]:
        """Delete all data of repositories that were removed this many seconds ago; returns their keys."""
        now = self._clock()
        db.execute(_STAMP_GONE, (now,))
        keys = [key for (key,) in db.execute(_GONE, (now - older_than,)).fetchall()]
        for key in keys:
            _forget(db, key)
        return keys

    async def known_repositories(self) -> set[str]:
        """Return the keys of all repositories that have stored data."""
        return {key for (key,) in await self._rows("SELECT repository_key FROM repositories")}
