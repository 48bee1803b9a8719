"""Store the last indexed commits on disk: one size-limited folder per repository, a file per tree."""

import contextlib
import errno
import logging
import os
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote
from uuid import uuid4

logger = logging.getLogger(__name__)
MAX_CACHE_BYTES = 512_000_000
"""Default limit of the stored bytes."""
TREES = 6
"""Number of stored trees, of each of the two scopes: the current commit, the previous one, one of another branch."""
ABANDONED = 3_600.0
"""Seconds after which nothing writes to an unfinished file any more."""
READ_ONLY = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC)


class Cache:
    """Stores trees by key in a folder. Entries may disappear at any time; a loss costs time and changes no result.

    Nothing is locked: a file appears whole under its name, and its time of change says when it was last used. After a
    power failure it may be damaged, which its checksum shows (``unpack_tree``).
    """

    def __init__(self, path: Path, *, largest: int = MAX_CACHE_BYTES) -> None:
        """Store at most ``largest`` bytes of trees in a folder, which need not exist.

        Raises:
            OSError: its parent cannot exist. One that is not writable only means that nothing is stored.
        """
        self.path = path
        self.largest = largest
        self._has_logged = False
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # The database that earlier versions wrote.
            for suffix in (".sqlite", ".sqlite-wal", ".sqlite-shm"):
                path.with_suffix(suffix).unlink(missing_ok=True)
        except OSError as error:
            if error.errno not in READ_ONLY:
                raise

    def tree(self, key: str) -> bytes | None:
        """Return the tree that is stored under a key."""
        return self._read(self.path / quote(key, safe=""))

    def latest_tree(self, version: str) -> bytes | None:
        """Return the most recently used tree whose key ends with the version."""
        ending = quote(version, safe="")
        file = next((file for file, _ in self._stored() if file.name.endswith(ending)), None)
        return self._read(file) if file else None

    def put_tree(self, key: str, value: bytes) -> None:
        """Store a tree in place of the least recently used one, unless it exceeds half of the size limit."""
        if len(value) > self.largest // 2:
            return
        with self._logging_errors():
            self.path.mkdir(exist_ok=True)
            for left in self.path.glob(".*"):  # by a process that was killed
                with contextlib.suppress(FileNotFoundError):
                    if time.time() - left.stat().st_mtime > ABANDONED:
                        left.unlink()
            new = self.path / f".{uuid4().hex}"
            try:
                new.write_bytes(value)
                _touch(new)
                new.replace(self.path / quote(key, safe=""))
            finally:
                new.unlink(missing_ok=True)
            room = self.largest
            for number, (stored, size) in enumerate(self._stored()):
                room -= size
                if room < 0 or number >= TREES:
                    stored.unlink(missing_ok=True)

    def size(self) -> int:
        """Return the bytes of all trees."""
        return sum(size for _, size in self._stored())

    def _read(self, file: Path) -> bytes | None:
        with self._logging_errors(), contextlib.suppress(FileNotFoundError):
            value = file.read_bytes()
            with contextlib.suppress(OSError):  # another process removed it, or the folder is read-only
                _touch(file)
            return value
        return None

    def _stored(self) -> list[tuple[Path, int]]:
        """Return the files of trees and their sizes, the last used first."""
        found = list[tuple[int, Path, int]]()
        with contextlib.suppress(OSError):
            for file in self.path.glob("[!.]*"):
                with contextlib.suppress(FileNotFoundError):  # another process removed it
                    status = file.stat()
                    found.append((status.st_mtime_ns, file, status.st_size))
        return [(file, size) for _, file, size in sorted(found, reverse=True)]

    @contextlib.contextmanager
    def _logging_errors(self) -> Iterator[None]:
        """Log the first failure; it may pass, as a full disk does."""
        try:
            yield
        except OSError as error:
            if not self._has_logged:
                logger.warning("parsed files are not cached in %s: %s", self.path, error)
            self._has_logged = True


def _touch(file: Path) -> None:
    # By the clock, which is finer than the time that a file system sets itself.
    now = time.time_ns()
    os.utime(file, ns=(now, now))
