"""What was parsed, by blob id, on disk: one file a repository, bounded, shared by any number of processes.

A record is one parsed blob; a tree is all records of a commit joined, of which only the last few are kept.
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
"""Bytes kept unless told otherwise."""
TREES = 3
"""Commits kept joined: the one at hand, the one before, and that of another branch."""
BATCH = 500  # keys a statement: under SQLite's old limit of 999 variables
HOUR = 3_600  # a record's last use is noted once an hour, so that reading seldom means writing
READ_ONLY = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC)


class Cache:
    """Records and trees by key. It may forget at any time: losing it costs time, never an answer."""

    def __init__(self, path: Path, *, largest: int = LARGEST) -> None:
        """Name the file, which need not exist.

        Args:
            path: the file.
            largest: how many bytes of records and trees it may hold.

        Raises:
            OSError: there can be no such folder; one that cannot be written only means that nothing is kept.
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
        """Return those of the records that are known."""
        wanted = list(keys)
        return self._file.run(lambda connection: _get(connection, wanted), {}) if wanted else {}

    def put(self, records: Mapping[str, bytes], needed: Collection[str] = ()) -> None:
        """Keep records, dropping the least recently used to make room, but none of those that are needed."""
        if records:
            self._file.run(lambda connection: self._put(connection, records, {*needed, *records}), None)

    def tree(self, key: str) -> bytes | None:
        """Return a tree that was kept by this key."""
        return self._file.run(lambda connection: _tree(connection, "key = ?", key), None)

    def latest_tree(self, version: str) -> bytes | None:
        """Return the tree used last, of those whose key ends with the version."""
        return self._file.run(lambda connection: _tree(connection, "key like '%' || ?", version), None)

    def put_tree(self, key: str, value: bytes) -> None:
        """Keep a tree instead of the one that was not used for longest, unless it would take most of the room."""
        if len(value) <= self.largest // 2:
            self._file.run(lambda connection: self._put_tree(connection, key, value), None)

    def size(self) -> int:
        """Count the bytes of all records and trees."""
        return self._file.run(_total, 0)

    def _put(self, connection: sqlite3.Connection, records: Mapping[str, bytes], needed: Collection[str]) -> None:
        now = int(time.time()) // HOUR
        with _writing(connection):
            room = self._room(connection, sum(map(len, records.values())), needed)
            rows = []
            for key, value in records.items():
                if len(value) <= room:
                    room -= len(value)
                    rows.append((key, value, len(value), now, _seal(key)))
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
        """Return how many bytes may be added, after dropping what is not needed if they are too few."""
        room = self.largest - _total(connection)
        # An eighth more than is needed is dropped, so that not every write has to make room.
        return room if incoming <= room else room + _drop(connection, incoming - room + self.largest // 8, needed)


@contextlib.contextmanager
def _writing(connection: sqlite3.Connection) -> Iterator[None]:
    """Make one transaction of some statements, and give the disk back what they freed."""
    connection.execute("begin immediate")
    try:
        yield
    except BaseException:
        connection.rollback()
        raise
    connection.commit()
    connection.executescript("pragma incremental_vacuum")  # execute() would free a single page


def _seal(key: str) -> int:
    """What a row holds beside its key, which an index that a power failure left behind may give to another row."""
    return crc32(key.encode())


def _get(connection: sqlite3.Connection, keys: list[str]) -> dict[str, bytes]:
    now, found, stale = int(time.time()) // HOUR, {}, []
    for start in range(0, len(keys), BATCH):
        part = keys[start : start + BATCH]
        marks = ",".join("?" * len(part))
        statement = f"select id, key, value, used, seal from record where key in ({marks})"  # noqa: S608 - question marks
        for row, key, value, used, seal in connection.execute(statement, part):
            if seal == _seal(key):
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
    if used != latest:
        with contextlib.suppress(sqlite3.OperationalError):  # another process writes, or nobody may
            connection.execute("update tree set used = ? where id = ?", (latest + 1, row))
    statement = f"select value from tree where id = ? and {condition}"  # noqa: S608 - as above; the row's own key
    found: tuple[bytes] | None = connection.execute(statement, (row, argument)).fetchone()
    return found[0] if found else None


def _total(connection: sqlite3.Connection) -> int:
    statement = "select (select coalesce(sum(size), 0) from record) + (select coalesce(sum(size), 0) from tree)"
    return int(connection.execute(statement).fetchone()[0])


def _drop(connection: sqlite3.Connection, surplus: int, needed: Collection[str]) -> int:
    """Drop trees but the one used last, then the records not used for longest; return how many bytes that frees."""
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
