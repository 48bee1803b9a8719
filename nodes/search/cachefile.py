"""Runs statements on one SQLite file. A missing, damaged, locked or outdated file and a full disk are never fatal."""

from __future__ import annotations

import contextlib
import logging
import sqlite3
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

logger = logging.getLogger(__name__)

FORMAT = 4
"""Stored in the file's ``user_version``. A file of an older format is recreated; a newer one stays untouched."""
SCHEMA = (
    """create table record (
        id integer primary key, key text not null unique, value blob not null,
        size integer not null, used integer not null, seal integer not null
    )""",
    "create index record_used on record (used, size)",
    """create table tree (
        id integer primary key, key text not null unique, value blob not null,
        size integer not null, used integer not null
    )""",
    f"pragma user_version = {FORMAT}",
)
PAGE = 32_768  # bytes; a tree is one value of many megabytes, which reads four times as fast as with the default size
WAIT = 20.0  # seconds to wait for another process to finish writing

T = TypeVar("T")


class _OldFormatError(sqlite3.DatabaseError):
    """An earlier version wrote the file."""


class CacheFile:
    """Runs statements on a cache file and recovers from its failures."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._has_logged = False

    def run(self, action: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
        """Run an action on a connection; return ``otherwise`` if that fails. Only the first failure is logged."""
        # The second attempt runs on the file that replaces a damaged or outdated one.
        for _ in range(2):
            inode = self._inode()
            try:
                with self._connection() as connection:
                    return action(connection)
            except sqlite3.OperationalError as error:
                self._tell(f"parsed files are not cached in {self.path}: {error}")
                return otherwise
            except sqlite3.DatabaseError as error:
                self._tell(f"{self.path} is recreated: {error}")
                self._put_aside(inode, keep=not isinstance(error, _OldFormatError))
        return otherwise

    @contextlib.contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
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

    def _put_aside(self, inode: int, *, keep: bool) -> None:
        """Move the file away, unless another process has already replaced it."""
        with contextlib.suppress(OSError):
            if self._inode() == inode:
                if keep:
                    self.path.replace(self.path.with_name(self.path.name + ".damaged"))
                # A log that is left behind would be applied to the new file.
                for suffix in ("", "-wal", "-shm"):
                    self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)

    def _tell(self, message: str) -> None:
        if not self._has_logged:
            logger.warning(message)
        self._has_logged = True


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
