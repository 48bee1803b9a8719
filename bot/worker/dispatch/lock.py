"""Lock a data directory for one server; the lock ends with the processes that hold it, however they end."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path

from bot.errors import UserError
from bot.files import restrict_permissions

PATIENCE = 3.0
"""Seconds to wait for the children of a killed server: they notice in milliseconds."""


class DirectoryLock:
    """A lock held from construction until the last process that inherited it ends."""

    def __init__(self, directory: Path, *, patience: float = PATIENCE) -> None:
        """Take the lock.

        Raises:
            UserError: another server works in this directory, or it is not writable.
        """
        self._file = _opened(directory)
        until = time.monotonic() + patience
        while not _locked(self._file):
            if time.monotonic() >= until:
                holder = os.pread(self._file, 20, 0).decode(errors="replace").strip()
                os.close(self._file)
                raise UserError(
                    f"another server (process {holder or 'unknown'}) works in {directory}: stop it, or set another"
                    " TRIAGE_DATA_DIR"
                )
            time.sleep(0.05)
        # The content is only for the message of a process that finds the lock taken; the lock itself is the kernel's.
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, str(os.getpid()).encode(), 0)

    @property
    def descriptor(self) -> int:
        """The descriptor for a child to inherit, so that no other server starts while the child still works."""
        return self._file

    def release(self) -> None:
        """Release the lock in this process."""
        os.close(self._file)


def _opened(directory: Path) -> int:
    try:
        directory.mkdir(parents=True, exist_ok=True)
        restrict_permissions(directory)
        return os.open(directory / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise UserError(f"cannot write to {directory}: {error.strerror}; set TRIAGE_DATA_DIR") from error


def _locked(file: int) -> bool:
    try:
        # flock belongs to the open file, not to the process: a child that inherited the descriptor holds it too.
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
