"""Caches git's answers about objects named by full ids, and detects changes of tags, on which other answers depend."""

from __future__ import annotations

import hashlib
import os
from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Hashable
    from pathlib import Path

LARGEST = 16_000_000
"""Maximum bytes of the answers of one repository."""
_PART = 16
"""An answer larger than this fraction of the limit is not stored, because it would evict all others."""
Stamp = tuple[str, int, int, int]
"""A path, and its file's inode, time of change in nanoseconds and size in bytes."""
_ID_SIZES = (41, 65)
"""Bytes of a ref's file: an id (SHA-1 or SHA-256) and a line feed."""


class QueryCache:
    """An LRU cache of answers by query. Safe to use from several threads."""

    def __init__(self, largest: int = LARGEST) -> None:
        """Create an empty cache.

        Args:
            largest: maximum bytes of all answers together.
        """
        self._largest = largest
        self._used = 0
        self._answers: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        # Without the lock, ``popitem`` of one thread could remove an entry between another's lookup and
        # ``move_to_end``.
        self._lock = Lock()

    def get(self, query: Hashable) -> Any:
        """Return the stored answer, or None."""
        with self._lock:
            found = self._answers.get(query)
            if found is None:
                return None
            self._answers.move_to_end(query)
            return found[0]

    def keep(self, query: Hashable, answer: Any, size: int) -> None:
        """Store an answer of about ``size`` bytes, unless it is too large."""
        if size * _PART > self._largest:
            return
        with self._lock:
            # Two threads may store the same answer; its size must count once.
            _, before = self._answers.pop(query, (None, 0))
            self._answers[query] = (answer, size)
            self._used += size - before
            while self._used > self._largest:
                _, (_, freed) = self._answers.popitem(last=False)
                self._used -= freed


def tag_state(git_directory: Path) -> bytes | None:
    """Return a value that changes with the tags; None if that cannot be known from the files.

    Args:
        git_directory: the folder with ``objects`` and ``refs``, not the folder of a linked work tree.
    """
    # git replaces a file and never writes into it, so two changes within one tick of the clock differ by the inode.
    shared = [stamp(git_directory / name) for name in ("packed-refs", "reftable/tables.list")]
    loose: list[Stamp] = []
    folders = [os.fspath(git_directory / "refs" / "tags")]
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    found = entry.stat(follow_symlinks=False)
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    # A symbolic ref changes with another file.
                    elif entry.is_symlink() or found.st_size not in _ID_SIZES:
                        return None
                    else:
                        loose.append((entry.path, found.st_ino, found.st_mtime_ns, found.st_size))
        except FileNotFoundError:
            continue
        except OSError:
            return None
    # A digest, because a mirror may have thousands of loose tags.
    return hashlib.blake2b(repr((shared, sorted(loose))).encode()).digest()


def stamp(place: Path) -> Stamp | None:
    """Return what changes when git replaces a file; None if there is none."""
    try:
        found = place.stat()
    except OSError:
        return None
    return place.name, found.st_ino, found.st_mtime_ns, found.st_size
