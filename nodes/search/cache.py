"""Store the last indexed commits on disk: one size-limited SQLite file per repository; a damaged one is replaced."""

import contextlib
import errno
import logging
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

logger = logging.getLogger(__name__)
FORMAT = 5
"""Stored in the file's ``user_version``. A file of an older format is recreated; a newer one stays untouched."""
SCHEMA = (
    """create table tree (
        id integer primary key, key text not null unique, value blob not null,
        size integer not null, used integer not null
    )""",
    f"pragma user_version = {FORMAT}",
)
PAGE = 32_768  # bytes; a tree is one value of many megabytes, which reads four times as fast as with the default size
WAIT = 20.0  # seconds to wait for another process to finish writing
T = TypeVar("T")
LARGEST = 512_000_000
"""Default limit of the stored bytes."""
TREES = 6
"""Number of stored trees, of each of the two scopes: the current commit, the previous one, one of another branch."""
READ_ONLY = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC)


class Cache:
    """Stores trees by key in a file. Entries may disappear at any time; a loss costs time and changes no result."""

    def __init__(self, path: Path, *, largest: int = LARGEST) -> None:
        """Store at most ``largest`` bytes of trees in a file, which need not exist.

        Raises:
            OSError: its folder cannot exist. A folder that is not writable only means that nothing is stored.
        """
        self.path = path
        self.largest = largest
        self._has_logged = False
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            if error.errno not in READ_ONLY:
                raise

    def tree(self, key: str) -> bytes | None:
        """Return the tree that is stored under a key."""
        return self._run(lambda connection: _tree(connection, "key = ?", key), None)

    def latest_tree(self, version: str) -> bytes | None:
        """Return the most recently used tree whose key ends with the version."""
        return self._run(lambda connection: _tree(connection, "key like '%' || ?", version), None)

    def put_tree(self, key: str, value: bytes) -> None:
        """Store a tree in place of the least recently used one, unless it exceeds half of the size limit."""
        if len(value) <= self.largest // 2:
            self._run(lambda connection: self._put_tree(connection, key, value), None)

    def size(self) -> int:
        """Return the bytes of all trees."""
        return self._run(_total, 0)

    def _put_tree(self, connection: sqlite3.Connection, key: str, value: bytes) -> None:
        with _writing(connection):
            connection.execute(
                "delete from tree where key = ? or id not in (select id from tree order by used desc limit ?)",
                (key, TREES - 1),
            )
            # Of trees that do not fit together, the last one stays.
            if _total(connection) + len(value) > self.largest:
                connection.execute("delete from tree where used < (select max(used) from tree)")
            connection.execute(
                "insert into tree (key, value, size, used)"
                " values (?, ?, ?, (select coalesce(max(used), 0) + 1 from tree))",
                (key, value, len(value)),
            )

    def _run(self, action: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
        """Run an action on a connection; return ``otherwise`` if that fails. Only the first failure is logged."""
        # The second attempt runs on the file that replaces a damaged or outdated one.
        for _ in range(2):
            inode = self._inode()
            try:
                with self._connection() as connection:
                    return action(connection)
            # A lock, a full disk or a newer format may pass, so the file stays. OperationalError is a DatabaseError
            # and comes first.
            except sqlite3.OperationalError as error:
                self._warn_once(f"parsed files are not cached in {self.path}: {error}")
                return otherwise
            except sqlite3.DatabaseError as error:
                self._warn_once(f"{self.path} is recreated: {error}")
                # Unless another process that found the same damage has already replaced the file.
                if self._inode() == inode:
                    self._put_aside(preserve=not isinstance(error, _OldFormatError))
        return otherwise

    @contextlib.contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        # Without an isolation level, the sqlite3 module starts no transactions by itself; ``_writing`` starts them
        # explicitly.
        with contextlib.closing(sqlite3.connect(self.path, timeout=WAIT, isolation_level=None)) as connection:
            # Waiting for the disk took a quarter of the total time for a small repository. Killing the process is safe
            # with this setting; after a power failure, the checksums or SQLite itself detect damage.
            connection.execute("pragma synchronous = off")
            if _format(connection) < FORMAT:
                _begin(connection)
            if _format(connection) > FORMAT:
                raise sqlite3.OperationalError("a newer version wrote it")
            with contextlib.suppress(sqlite3.OperationalError):  # another process holds the lock
                connection.execute("pragma journal_mode = wal")
            yield connection

    def _inode(self) -> int:
        with contextlib.suppress(OSError):
            return self.path.stat().st_ino
        return 0

    def _put_aside(self, *, preserve: bool) -> None:
        with contextlib.suppress(OSError):
            if preserve:
                self.path.replace(self.path.with_name(self.path.name + ".damaged"))
            # A log that is left behind would be applied to the new file.
            for suffix in ("", "-wal", "-shm"):
                self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)

    def _warn_once(self, message: str) -> None:
        if not self._has_logged:
            logger.warning(message)
        self._has_logged = True


class _OldFormatError(sqlite3.DatabaseError):
    """An earlier version wrote the file."""


def _begin(connection: sqlite3.Connection) -> None:
    """Create the tables, unless another process has just created them."""
    # SQLite applies both settings only as long as the file has no tables.
    connection.execute(f"pragma page_size = {PAGE}")
    connection.execute("pragma auto_vacuum = incremental")
    connection.execute("begin immediate")
    # Another process may have created the tables while this one waited for the write lock.
    if _format(connection) < FORMAT:
        if connection.execute("select count(*) from sqlite_master").fetchone()[0]:
            raise _OldFormatError("it has an older format")
        for statement in SCHEMA:
            connection.execute(statement)
    connection.commit()


def _format(connection: sqlite3.Connection) -> int:
    return int(connection.execute("pragma user_version").fetchone()[0])


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


def _tree(connection: sqlite3.Connection, condition: str, argument: str) -> bytes | None:
    latest = connection.execute("select max(used) from tree").fetchone()[0]
    statement = f"select id, used from tree where {condition} order by used desc limit 1"
    row, used = connection.execute(statement, (argument,)).fetchone() or (None, latest)
    # ``used`` is a counter, not a time: a tree that is already the latest needs no write.
    if used != latest:
        with contextlib.suppress(sqlite3.OperationalError):  # another process writes, or the file is read-only
            connection.execute("update tree set used = ? where id = ?", (latest + 1, row))
    statement = f"select value from tree where id = ? and {condition}"
    found: tuple[bytes] | None = connection.execute(statement, (row, argument)).fetchone()
    return found[0] if found else None


def _total(connection: sqlite3.Connection) -> int:
    return int(connection.execute("select coalesce(sum(size), 0) from tree").fetchone()[0])
