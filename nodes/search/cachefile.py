"""One SQLite file that may be missing, damaged, locked, of another format or on a full disk, and is never fatal."""

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
"""Kept in the file's ``user_version``. A file of an older format is begun anew, one of a newer is left alone."""
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
PAGE = 32_768  # bytes; a tree is one value of many megabytes, which reads four times as fast as with the default
WAIT = 20.0  # seconds for another process to finish writing

T = TypeVar("T")


class _OldFormatError(sqlite3.DatabaseError):
    """An earlier version wrote the file."""


class CacheFile:
    """Runs statements on a file where it can."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._told = False

    def run(self, action: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
        """Run an action on a connection; what cannot be read or written gives ``otherwise``, and is said once."""
        for _ in range(2):
            inode = self._inode()
            try:
                with self._connection() as connection:
                    return action(connection)
            except sqlite3.OperationalError as error:
                self._tell(f"parsed files are not kept in {self.path}: {error}")
                return otherwise
            except sqlite3.DatabaseError as error:
                self._tell(f"{self.path} is begun anew: {error}")
                self._put_aside(inode, keep=not isinstance(error, _OldFormatError))
        return otherwise

    @contextlib.contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        with contextlib.closing(sqlite3.connect(self.path, timeout=WAIT, isolation_level=None)) as connection:
            # Waiting for the disk took a quarter of the time that a small repository needs in all. A process may be
            # killed all the same; after a power failure, what is damaged is told by its checksum or by SQLite.
            connection.execute("pragma synchronous = off")
            if _format(connection) < FORMAT:
                _begin(connection)
            if _format(connection) > FORMAT:
                raise sqlite3.OperationalError("a newer version wrote it")
            with contextlib.suppress(sqlite3.OperationalError):  # another process is at it
                connection.execute("pragma journal_mode = wal")
            yield connection

    def _inode(self) -> int:
        with contextlib.suppress(OSError):
            return self.path.stat().st_ino
        return 0

    def _put_aside(self, inode: int, *, keep: bool) -> None:
        """Move the file away, unless another process has done so and begun a new one."""
        with contextlib.suppress(OSError):
            if self._inode() == inode:
                if keep:
                    self.path.replace(self.path.with_name(self.path.name + ".damaged"))
                for suffix in ("", "-wal", "-shm"):
                    self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)

    def _tell(self, message: str) -> None:
        if not self._told:
            logger.warning(message)
        self._told = True


def _begin(connection: sqlite3.Connection) -> None:
    """Make the tables, unless another process is just doing so."""
    connection.execute(f"pragma page_size = {PAGE}")
    connection.execute("pragma auto_vacuum = incremental")
    connection.execute("begin immediate")
    if _format(connection) < FORMAT:
        if connection.execute("select count(*) from sqlite_master").fetchone()[0]:
            raise _OldFormatError("it has an older format")
        for statement in SCHEMA:
            connection.execute(statement)
    connection.commit()


def _format(connection: sqlite3.Connection) -> int:
    return int(connection.execute("pragma user_version").fetchone()[0])
