"""Detects changes of a repository's tags without a git process."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

Stamp = tuple[str, int, int, int]
"""A path, and its file's inode, time of change in nanoseconds and size in bytes."""
_ID_SIZES = (41, 65)
"""Bytes of a ref's file: an id (SHA-1 or SHA-256) and a line feed."""


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
