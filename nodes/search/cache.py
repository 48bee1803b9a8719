"""Stores parse results by blob id on disk: one size-limited file per repository, shared by any number of processes.

A record is one parsed blob. A tree is all records of a commit joined; only the most recent trees are stored.
"""

from __future__ import annotations

import contextlib
import errno
import sqlite3
import time
from typing import TYPE_CHECKING
from zlib import crc32

from nodes.search.cachefile import CacheFile

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping
    from pathlib import Path

LARGEST = 512_000_000
"""Default limit of the stored bytes."""
TREES = 3
"""Number of stored trees: the current commit, the previous one, and one of another branch."""
BATCH = 500  # keys per statement; below SQLite's former limit of 999 variables
HOUR = 3_600  # seconds; the last use of a record is stored with this precision, so that few reads cause a write
READ_ONLY = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC)


class Cache:
    """Stores records and trees by key. Entries may disappear at any time; a loss costs time and changes no result."""

    def __init__(self, path: Path, *, largest: int = LARGEST) -> None:
        """Set the path of the cache file and create its folder. The file need not exist.

        Args:
            path: the cache file.
            largest: maximum bytes of records and trees.

        Raises:
            OSError: the folder cannot exist. A folder that is not writable only means that nothing is stored.
        """
        self.path = path
        self._file = CacheFile(path)
        self.largest = largest
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            if error.errno not in READ_ONLY:
                raise

    def get(self, keys: Iterable[str]) -> dict[str, bytes]:
        """Return the stored records among the keys."""
        wanted = list(keys)
        return self._file.run(lambda connection: _get(connection, wanted), {}) if wanted else {}

    def put(self, records: Mapping[str, bytes], needed: Collection[str] = ()) -> None:
        """Store records. To make room, drop the least recently used records, but none that is needed."""
        if records:
            self._file.run(lambda connection: self._put(connection, records, {*needed, *records}), None)

    def tree(self, key: str) -> bytes | None:
        """Return the tree that is stored under a key."""
        return self._file.run(lambda connection: _tree(connection, "key = ?", key), None)

    def latest_tree(self, version: str) -> bytes | None:
        """Return the most recently used tree whose key ends with the version."""
        return self._file.run(lambda connection: _tree(connection, "key like '%' || ?", version), None)

    def put_tree(self, key: str, value: bytes) -> None:
        """Store a tree in place of the least recently used one, unless it exceeds half of the size limit."""
        if len(value) <= self.largest // 2:
            self._file.run(lambda connection: self._put_tree(connection, key, value), None)

    def size(self) -> int:
        """Return the bytes of all records and trees."""
        return self._file.run(_total, 0)

    def _put(self, connection: sqlite3.Connection, records: Mapping[str, bytes], needed: Collection[str]) -> None:
        now = int(time.time()) // HOUR
        with _writing(connection):
            room = self._room(connection, sum(map(len, records.values())), needed)
            rows = []
            for key, value in records.items():
                if len(value) <= room:
                    room -= len(value)
                    rows.append((key, value, len(value), now, _checksum(key)))
            connection.executemany(
                "insert or replace into record (key, value, size, used, seal) values (?, ?, ?, ?, ?)", rows
            )

    def _put_tree(self, connection: sqlite3.Connection, key: str, value: bytes) -> None:
        with _writing(connection):
            connection.execute(
                "delete from tree where key = ? or id not in (select id from tree order by used desc limit ?)",
                (key, TREES - 1),
            )
            if len(value) <= self._room(connection, len(value), ()):
                connection.execute(
                    "insert into tree (key, value, size, used)"
                    " values (?, ?, ?, (select coalesce(max(used), 0) + 1 from tree))",
                    (key, value, len(value)),
                )

    def _room(self, connection: sqlite3.Connection, incoming: int, needed: Collection[str]) -> int:
        """Return how many bytes may be added. Drop entries that are not needed if ``incoming`` does not fit."""
        room = self.largest - _total(connection)
        # Drop an eighth of the limit more than needed, so that not every write has to make room.
        return room if incoming <= room else room + _drop(connection, incoming - room + self.largest // 8, needed)


@contextlib.contextmanager
def _writing(connection: sqlite3.Connection) -> Iterator[None]:
    """Run some statements in one transaction, then return the freed pages to the file system."""
    # A deferred transaction that has read fails at its first write while another process writes, instead of waiting.
    connection.execute("begin immediate")
    try:
        yield
    except BaseException:
        connection.rollback()
        raise
    connection.commit()
    connection.executescript("pragma incremental_vacuum")  # execute() would free a single page only


def _checksum(key: str) -> int:
    """Return a checksum of the key for the row; after a power failure a damaged index may map a key to another row."""
    return crc32(key.encode())


def _get(connection: sqlite3.Connection, keys: list[str]) -> dict[str, bytes]:
    now, found, stale = int(time.time()) // HOUR, {}, []
    for start in range(0, len(keys), BATCH):
        part = keys[start : start + BATCH]
        marks = ",".join("?" * len(part))
        statement = f"select id, key, value, used, seal from record where key in ({marks})"  # noqa: S608 - question marks
        for row, key, value, used, seal in connection.execute(statement, part):
            if seal == _checksum(key):
                found[key] = value
            if used < now:
                stale.append((now, row))
    if stale:
        with contextlib.suppress(sqlite3.OperationalError), _writing(connection):  # the disk may be full or read-only
            connection.executemany("update record set used = ? where id = ?", stale)
    return found


def _tree(connection: sqlite3.Connection, condition: str, argument: str) -> bytes | None:
    latest = connection.execute("select max(used) from tree").fetchone()[0]
    statement = f"select id, used from tree where {condition} order by used desc limit 1"  # noqa: S608 - a constant
    row, used = connection.execute(statement, (argument,)).fetchone() or (None, latest)
    # ``used`` is a counter, not a time: a tree that is already the latest needs no write.
    if used != latest:
        with contextlib.suppress(sqlite3.OperationalError):  # another process writes, or the file is read-only
            connection.execute("update tree set used = ? where id = ?", (latest + 1, row))
    statement = f"select value from tree where id = ? and {condition}"  # noqa: S608 - as above; the row's own key
    found: tuple[bytes] | None = connection.execute(statement, (row, argument)).fetchone()
    return found[0] if found else None


def _total(connection: sqlite3.Connection) -> int:
    statement = "select (select coalesce(sum(size), 0) from record) + (select coalesce(sum(size), 0) from tree)"
    return int(connection.execute(statement).fetchone()[0])


def _drop(connection: sqlite3.Connection, surplus: int, needed: Collection[str]) -> int:
    """Drop all trees but the most recently used, then the least recently used records; return the freed bytes."""
    freed = 0
    for row, size in connection.execute("select id, size from tree order by used desc limit -1 offset 1").fetchall():
        connection.execute("delete from tree where id = ?", (row,))
        freed += size
    for row, size, key in connection.execute("select id, size, key from record order by used, id").fetchall():
        if freed >= surplus:
            break
        if key not in needed:
            connection.execute("delete from record where id = ?", (row,))
            freed += size
    return freed
