"""What was parsed, by blob id, on disk: one SQLite file a repository, shared by any number of processes."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

SCHEMA = """
create table if not exists record (
    key text primary key, value blob not null, size integer not null, used integer not null
) without rowid;
create index if not exists record_used on record (used, size);
"""
LARGEST = 512 * 1024 * 1024
"""Bytes of records kept; past it, the least recently used are dropped down to three quarters."""
BATCH = 500  # keys a statement: under SQLite's old limit of 999 variables
WAIT = 20.0  # seconds for another process to finish writing
DAY = 86_400  # a record's last use is noted once a day, so that reading does not mean writing

T = TypeVar("T")


class Cache:
    """Records by key. It may forget at any time: losing it costs time, never an answer."""

    def __init__(self, path: Path, *, largest: int = LARGEST) -> None:
        self.path = path
        self.largest = largest
        path.parent.mkdir(parents=True, exist_ok=True)

    def get(self, keys: Iterable[str]) -> dict[str, bytes]:
        """Return those of the keys that are known."""
        wanted = list(keys)
        return self._guarded(lambda connection: self._get(connection, wanted), {})

    def put(self, records: Mapping[str, bytes]) -> None:
        """Keep records, and drop the least recently used when there are too many."""
        if records:
            self._guarded(lambda connection: self._put(connection, records), None)

    def _get(self, connection: sqlite3.Connection, keys: list[str]) -> dict[str, bytes]:
        today, found, stale = int(time.time()) // DAY, {}, []
        for start in range(0, len(keys), BATCH):
            part = keys[start : start + BATCH]
            marks = ",".join("?" * len(part))
            statement = f"select key, value, used from record where key in ({marks})"  # noqa: S608 - only question marks
            for key, value, used in connection.execute(statement, part):
                found[key] = value
                if used < today:
                    stale.append((today, key))
        if stale:
            with contextlib.suppress(sqlite3.OperationalError), connection:  # another process writes: it can wait
                connection.executemany("update record set used = ? where key = ?", stale)
        return found

    def _put(self, connection: sqlite3.Connection, records: Mapping[str, bytes]) -> None:
        today = int(time.time()) // DAY
        rows = [(key, value, len(value), today) for key, value in records.items()]
        with connection:
            connection.executemany("insert or replace into record values (?, ?, ?, ?)", rows)
            (total,) = connection.execute("select coalesce(sum(size), 0) from record").fetchone()
            if total > self.largest:
                self._evict(connection, total - self.largest * 3 // 4)

    def _evict(self, connection: sqlite3.Connection, surplus: int) -> None:
        doomed = []
        for key, size in connection.execute("select key, size from record order by used, key"):
            if surplus <= 0:
                break
            doomed.append((key,))
            surplus -= size
        connection.executemany("delete from record where key = ?", doomed)

    def _guarded(self, action: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
        """Run an action; a damaged file is rebuilt once, a busy or full disk means no cache this time."""
        for _ in range(2):
            try:
                with contextlib.closing(self._connect()) as connection:
                    return action(connection)
            except sqlite3.OperationalError:
                return otherwise
            except sqlite3.DatabaseError:
                self._discard()
        return otherwise

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=WAIT)
        try:
            connection.execute("pragma journal_mode = wal")
            connection.execute("pragma synchronous = normal")
            connection.executescript(SCHEMA)
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def _discard(self) -> None:
        for suffix in ("", "-wal", "-shm"):
            self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
