"""The parent's side of one helper process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from nodes.search.parsers.protocol import TOO_MUCH_MEMORY, Output, Task, Text, deadline

if TYPE_CHECKING:
    from collections.abc import Iterator

STALL = 180.0
"""Seconds of wall time without progress after which a helper is killed, far beyond the deadline of any file."""
_FAULTS = frozenset(
    (-signal.SIGPROF, -signal.SIGXCPU, -signal.SIGABRT, -signal.SIGSEGV, -signal.SIGBUS, TOO_MUCH_MEMORY)
)
"""Exit codes for which the current file is at fault; all others may have another cause."""


class FilePosition(NamedTuple):
    """The file that a helper works on."""

    batch: int
    file: int
    processor: float
    """Seconds of processor time that the helper used before this file."""


class Helper:
    """A child process that parses batches until none is left."""

    def __init__(self, task: Task) -> None:
        """Start the process.

        Raises:
            OSError: no process can be started now.
        """
        self.first = task.first
        """The batches that it parses first, with the numbers of their files."""
        self.last: FilePosition | None = None
        """The last file that the helper is known to have begun; None if none is."""
        # A file instead of a pipe, so that a helper never waits for its parent to read.
        self._output = tempfile.TemporaryFile()  # noqa: SIM115 - ``close`` closes it
        self._frames = Output(self._output.fileno())
        self._since = time.monotonic()
        with tempfile.TemporaryFile() as order:
            order.write(task.dump())
            order.seek(0)
            self._process = subprocess.Popen(
                # -P keeps the current directory off sys.path: it may belong to anyone
                [sys.executable, "-P", "-m", "nodes.search.parsers.helper"],
                stdin=order,
                stdout=self._output,
                # A parser that aborts may print its assertion; the exit code is sufficient.
                stderr=subprocess.DEVNULL,
                pass_fds=task.claims,
                # The program may be run from a checkout without being installed.
                env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[3])},
            )

    def new(self) -> Iterator[tuple[int, int, Text | None]]:
        """Yield the texts since the last call with the numbers of batch and file; None for a missing blob."""
        for batch, file, value in self._frames.new():
            self._since = time.monotonic()
            if isinstance(value, float):
                self.last = FilePosition(batch, file, value)
            else:
                yield batch, file, value

    def ended(self) -> int | None:
        """Return the exit code, or None while the process runs. Kill a process that makes no progress."""
        code = self._process.poll()
        # The deadline is processor time, which a process that waits for a disk never uses up.
        if code is None and time.monotonic() - self._since > STALL:
            self._process.kill()
            code = self._process.wait()
        return code

    def close(self) -> None:
        """Kill the process if it still runs, and close its output."""
        self._process.kill()
        self._process.wait()
        self._output.close()


def is_fault_of_file(code: int) -> bool:
    """Return whether an exit code means that the current file ended the process."""
    return code in _FAULTS


def used(at: FilePosition, size: int, code: int) -> float:
    """Return the seconds of processor time that a helper used until it ended.

    Args:
        at: the file at which it ended.
        size: bytes of that file.
        code: the exit code.
    """
    # SIGPROF comes from the file's timer, so the file has used its whole deadline.
    return at.processor + (deadline(size) if code == -signal.SIGPROF else 0.0)
