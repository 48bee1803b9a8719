"""SQLite files of tests: copies of one with the tables, which take 20 ms to create, and not synced to the disk.

A sync protects commits from the loss of power, which no test can cause. Tests of the files themselves use the fixture
``created_databases``, and servers in processes of their own always create theirs.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import secrets
import shutil
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

Connect = Callable[[Path, int], Any]


def copying(connect: Connect) -> Connect:
    """Return a function that opens a file as ``connect`` does, after it has copied it if there is none."""

    def connected(path: Path, pages: int) -> Any:
        if not path.exists():
            with contextlib.suppress(OSError):  # ``connect`` reports a place where no file can be
                _place(path, template(connect))
        connection = connect(path, pages)
        connection.execute("PRAGMA synchronous = OFF")
        return connection

    return connected


@functools.cache
def template(connect: Connect) -> Path:
    """Return a file with the tables. Made before processes are forked, it is deleted at the end."""
    folder = Path(tempfile.mkdtemp(prefix="tables"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    with closing(connect(folder / "store.db", 1_000)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return folder / "store.db"


def _place(path: Path, made: Path) -> None:
    """Copy the file; if two do so at once, the first one's is used."""
    copy = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    try:
        shutil.copyfile(made, copy)
        with contextlib.suppress(FileExistsError):
            os.link(copy, path)
    finally:
        copy.unlink(missing_ok=True)
