"""Use one SQLite file: a transaction is durable when it returns, and none runs on the event loop."""

import asyncio
import sqlite3
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

from bot.errors import UserError
from bot.store.databases.database import STEPS, Connection, Database, StoreError, T, Work

LOCK_SECONDS, LOCK_NAP = 30.0, 0.001
"""Seconds to wait for another process to finish writing, and between two tries."""
_PAGES, _PAGES_OVERDUE = 1_000, 20_000
"""Pages of the write-ahead log at which a commit checkpoints them, in the process that does upkeep and in others."""


class _File(sqlite3.Connection):
    """The connection, used by one thread."""

    def lock(self, keys: Iterable[str], /) -> None:
        """Do nothing: a writing transaction locks the whole file."""


class SqliteDatabase(Database):
    """One connection in one thread: SQLite has one writer at a time, and transactions run in the order of the calls."""

    def __init__(self, path: Path, *, tidy: bool = True) -> None:
        """Open a file and migrate an older one; raises ``UserError`` if a newer release wrote it, or it cannot be used.

        Unless it is ``tidy``, it leaves to another process to checkpoint the write-ahead log into the file, so that no
        commit has to wait for it, unless the log is far too long.
        """
        super().__init__(ThreadPoolExecutor(1, thread_name_prefix="store"))
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # Opened in the store's thread, because sqlite3 refuses a connection in any other thread.
            self._connection = self._threads.submit(_connect, path, _PAGES if tidy else _PAGES_OVERDUE).result()
        except OSError as error:
            raise UserError(f"cannot write to {path.parent}: {error.strerror}; set TRIAGE_DATA_DIR") from error
        except (sqlite3.DatabaseError, StoreError) as error:
            advice = "; set TRIAGE_DATA_DIR" if isinstance(error, sqlite3.OperationalError) else ""
            raise UserError(f"{path} cannot be used: {error}{advice}") from error

    def _commit(self, work: Work[T]) -> T:
        return _in_transaction(self._connection, work)

    def _query(self, work: Work[T]) -> T:
        return _with_retries(self._connection, work)

    def clock(self) -> float:
        """Return this machine's time."""
        return time.time()

    async def aclose(self) -> None:
        """Close the connection after the transactions that were submitted before."""
        self._closed = True
        await asyncio.get_running_loop().run_in_executor(self._threads, self._connection.close)
        self._threads.shutdown()


def copy_database(source: Path, target: Path) -> None:
    """Copy a database in use, as of one moment; raises ``StoreError`` if it cannot be read or written."""
    try:
        # Not read-only: without a process that has it open, SQLite could not create the files that it needs next to it.
        running = sqlite3.connect(f"{source.absolute().as_uri()}?mode=rw", uri=True)
        with closing(running), closing(sqlite3.connect(target)) as copy:
            running.backup(copy)
    except sqlite3.Error as error:
        raise StoreError(str(error)) from error


def _connect(path: Path, pages: int) -> _File:
    connection = sqlite3.connect(path, isolation_level=None, factory=_File)
    connection.execute("PRAGMA busy_timeout = 30000")
    connection.execute("PRAGMA journal_mode = WAL")
    # FULL syncs the log at each commit: what was acknowledged survives a crash.
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute(f"PRAGMA wal_autocheckpoint = {pages}")
    # From here on ``_with_retries`` waits for other processes, in shorter steps.
    connection.execute("PRAGMA busy_timeout = 0")
    _in_transaction(connection, _migrate)
    return connection


def _migrate(connection: Connection) -> None:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > len(STEPS):
        raise UserError(
            f"the data directory was written by a newer release (schema {version}, known up to {len(STEPS)}): upgrade"
        )
    # ``user_version`` is part of the transaction, so a kill leaves either the old schema or the new one.
    for statements in STEPS[version:]:
        for statement in filter(str.strip, statements.split(";")):
            connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {len(STEPS)}")


def _in_transaction(connection: _File, work: Work[T]) -> T:
    try:
        # IMMEDIATE takes the write lock here, where waiting is possible; a deferred transaction could fail at a write.
        _with_retries(connection, lambda db: db.execute("BEGIN IMMEDIATE"))
        result = work(connection)
        connection.execute("COMMIT")
    except sqlite3.OperationalError as error:
        _roll_back(connection)
        raise StoreError(str(error)) from error
    except BaseException:
        _roll_back(connection)
        raise
    return result


def _with_retries(connection: _File, work: Work[T]) -> T:
    """Wait for another process's commit. SQLite's own busy handler sleeps up to a tenth of a second at a time."""
    until = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            return work(connection)
        except sqlite3.OperationalError as error:
            # The low byte of an extended result code is the primary code.
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise StoreError(str(error)) from error
            # This blocks the store's thread and not the event loop.
            time.sleep(LOCK_NAP)


def _roll_back(connection: _File) -> None:
    if connection.in_transaction:
        connection.execute("ROLLBACK")
