"""Export or delete everything that is stored about one repository."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

from bot.store.database import Connection, Database, Value

_ISSUE = "issue_key >= :first AND issue_key < :last"
_RUN = "run >= :first AND run < :last"
_REPOSITORY = "repository_key = :key"
_SCOPE = "scope = :key OR (scope >= :first AND scope < :last) OR (scope >= :author AND scope < :authors)"
KEPT: Mapping[str, str] = {
    # Deliveries come before the jobs, because they are found by their jobs.
    "deliveries": f"guid IN (SELECT guid FROM jobs WHERE {_ISSUE})",  # noqa: S608  no input in it
    "jobs": _ISSUE,
    "signals": _ISSUE,
    "commands": _ISSUE,
    "issues": _ISSUE,
    "runs": _ISSUE,
    "run_events": _RUN,
    "evidence": _RUN,
    "questions": _ISSUE,
    "effects": _ISSUE,
    "label_actors": _ISSUE,
    "relations": _ISSUE,
    "outcomes": _ISSUE,
    "past_issues": _REPOSITORY,
    "past_walks": _REPOSITORY,
    "limited": _REPOSITORY,
    "api_runs": _REPOSITORY,
    "usage": _SCOPE,
    "repositories": _REPOSITORY,
}
"""Table → condition that selects a repository's rows."""
NOT_OF_A_REPOSITORY = frozenset(
    {"installations", "writes", "quiet", "paces", "leases", "turns", "metric_samples", "ended_sessions"}
)
"""Tables that hold nothing that people wrote in a repository."""

_THREADS = f"SELECT issue_key, run_no FROM runs WHERE {_ISSUE} ORDER BY issue_key, run_no"  # noqa: S608  no input


class RepositoryData:
    """One repository, in all tables."""

    def __init__(self, database: Database, repository_key: str) -> None:
        self._database = database
        self.key = repository_key

    async def rows(self, table: str) -> list[dict[str, Any]]:
        """Return the rows of a table as dicts by column, with values that JSON can represent."""
        statement = f"SELECT * FROM {table} WHERE {KEPT[table]}"  # noqa: S608  one of the names above
        return await self._database.read(lambda db: list(_named(db, statement, _given(self.key))))

    async def threads(self) -> list[str]:
        """Return the threads (checkpoint keys) of the repository's runs."""
        rows = await self._database.read(lambda db: db.execute(_THREADS, _given(self.key)).fetchall())
        return [f"{issue_key}:{number}" for issue_key, number in rows]

    async def forget(self) -> dict[str, int]:
        """Delete all of it; returns the number of rows deleted per table."""
        return await self._database.do(lambda db: forget_repository(db, self.key))


def forget_repository(db: Connection, key: str) -> dict[str, int]:
    """Delete everything of a repository, within a transaction."""
    given = _given(key)
    statements = {table: f"DELETE FROM {table} WHERE {where}" for table, where in KEPT.items()}  # noqa: S608  as above
    return {table: db.execute(statement, given).rowcount for table, statement in statements.items()}


def _given(key: str) -> dict[str, Value]:
    """Return the bounds of a repository's keys: ``#`` precedes an issue's number, ``@`` an author's id."""
    # "$" follows "#" and "A" follows "@" in ASCII, so the ranges contain exactly the keys with these prefixes.
    return {"key": key, "first": f"{key}#", "last": f"{key}$", "author": f"{key}@", "authors": f"{key}A"}


def _named(db: Connection, statement: str, given: dict[str, Value]) -> Iterator[dict[str, Any]]:
    found = db.execute(statement, given)
    names = [column[0] for column in found.description]
    for row in found:
        yield {name: _readable(value) for name, value in zip(names, row, strict=True)}


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
