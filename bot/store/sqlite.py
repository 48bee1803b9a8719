"""The store on one machine: SQLite, durable at every commit."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol, TypeVar

from nodes.evidence import Evidence

T = TypeVar("T")

_SCHEMA = """
CREATE TABLE IF NOT EXISTS runs (
    issue_key TEXT NOT NULL,
    run_no INTEGER NOT NULL,
    status TEXT NOT NULL DEFAULT 'running',
    PRIMARY KEY (issue_key, run_no)
) STRICT;
CREATE TABLE IF NOT EXISTS evidence (
    run TEXT NOT NULL,
    hash TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (run, hash)
) STRICT, WITHOUT ROWID;
"""


class SqliteStore:
    """Runs and their evidence. One connection, one thread: SQLite wants no more."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="store")
        self._connection = self._thread.submit(_connect, path).result()

    async def open_run(self, issue_key: str) -> int:
        """The number of the issue's unfinished run, or of a new one."""
        return await self._do(lambda db: _open_run(db, issue_key))

    async def finish_run(self, issue_key: str, run_no: int) -> None:
        """Note that a run ended; the next one has a number of its own."""
        statement = "UPDATE runs SET status = 'finished' WHERE issue_key = ? AND run_no = ?"
        await self._do(lambda db: db.execute(statement, (issue_key, run_no)).rowcount)

    def evidence(self, run: str) -> SqliteEvidence:
        """The evidence of one run, and of no other."""
        return SqliteEvidence(self._do, run)

    async def aclose(self) -> None:
        """Close the connection."""
        await asyncio.get_running_loop().run_in_executor(self._thread, self._connection.close)
        self._thread.shutdown()

    async def _do(self, work: Callable[[sqlite3.Connection], T]) -> T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, _in_transaction, self._connection, work)


class Transact(Protocol):
    """Runs work in one transaction, off the event loop."""

    async def __call__(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Commit what was done, or nothing."""


class SqliteEvidence:
    """One run's evidence, kept beyond a crash."""

    def __init__(self, do: Transact, run: str) -> None:
        self._do = do
        self._run = run

    async def put(self, evidence: Sequence[Evidence]) -> None:
        """Keep evidence by its key; keeping it twice is the same as once."""
        rows = [(self._run, item.key, item.model_dump_json()) for item in evidence]
        statement = "INSERT OR REPLACE INTO evidence (run, hash, body) VALUES (?, ?, ?)"
        await self._do(lambda db: db.executemany(statement, rows).rowcount)

    async def get(self, keys: Sequence[str]) -> Mapping[str, Evidence]:
        """What is known of these keys; a lost one is absent."""
        statement = "SELECT hash, body FROM evidence WHERE run = ?"
        rows = await self._do(lambda db: db.execute(statement, (self._run,)).fetchall())
        wanted = set(keys)
        return {key: Evidence.model_validate_json(body) for key, body in rows if key in wanted}


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA busy_timeout = 30000")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.executescript(_SCHEMA)
    return connection


def _in_transaction(connection: sqlite3.Connection, work: Callable[[sqlite3.Connection], T]) -> T:
    connection.execute("BEGIN IMMEDIATE")
    try:
        result = work(connection)
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
    return result


def _open_run(connection: sqlite3.Connection, issue_key: str) -> int:
    last = connection.execute(
        "SELECT run_no, status FROM runs WHERE issue_key = ? ORDER BY run_no DESC LIMIT 1", (issue_key,)
    ).fetchone()
    if last is not None and last[1] != "finished":
        return int(last[0])
    number = int(last[0]) + 1 if last else 1
    connection.execute("INSERT INTO runs (issue_key, run_no) VALUES (?, ?)", (issue_key, number))
    return number
