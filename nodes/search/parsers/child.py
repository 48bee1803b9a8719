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

from nodes.search.parsers.protocol import NOTE, TOO_MUCH_MEMORY, Output, Task, deadline

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nodes.search.git import Repository
    from nodes.search.parsers.protocol import Counted, Frame, Job

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

    def __init__(
        self,
        repository: Repository,
        batches: Sequence[Sequence[Job]],
        claims: Sequence[int],
        *,
        first: Sequence[tuple[int, list[int]]] = (),
        gave_up: Sequence[str] = (),
        counts: bool = False,
    ) -> None:
        """Start the process.

        Args:
            repository: the repository that the blobs are read from.
            batches: all batches.
            claims: descriptors of the files that batch numbers are claimed from.
            first: batches to parse first, and the numbers of their files.
            gave_up: languages whose files stay plain text.
            counts: whether the helper counts the words of batches that need no parser.

        Raises:
            OSError: no process can be started now.
        """
        self.first = list(first)
        # Files instead of pipes, so that a helper never waits for its parent to read.
        self._output = tempfile.TemporaryFile()  # noqa: SIM115 - ``close`` closes it
        self._note = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115
        self._frames = Output(self._output.fileno())
        self.last: FilePosition | None = None
        """The file that the helper worked on at the last call of ``ended``; None before the first."""
        self._since = time.monotonic()
        note = self._note.fileno()
        task = Task(
            directory=os.fspath(repository.directory),
            batches=[list(batch) for batch in batches],
            first=self.first,
            claims=list(claims),
            note=note,
            parent=os.getpid(),
            gave_up=list(gave_up),
            counts=counts,
        )
        self._process = self._start(task, (*claims, note))

    def _start(self, task: Task, descriptors: Sequence[int]) -> subprocess.Popen[bytes]:
        """Start the helper with its task as input; it inherits the descriptors."""
        with tempfile.TemporaryFile() as order:
            order.write(task.dump())
            order.seek(0)
            return subprocess.Popen(
                # -P keeps the current directory off sys.path: it may belong to anyone
                [sys.executable, "-P", "-m", "nodes.search.parsers.helper"],
                stdin=order,
                stdout=self._output,
                # A parser that aborts may print its assertion; the exit code is sufficient.
                stderr=subprocess.DEVNULL,
                pass_fds=descriptors,
                # The program may be run from a checkout without being installed.
                # numpy maps memory for each thread of its linear algebra, which counting words does not use; with many
                # cores that would use up the helper's address space.
                env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[3]), "OPENBLAS_NUM_THREADS": "1"},
            )

    def new(self) -> Iterator[Frame | Counted]:
        """Yield the frames that the helper wrote since the last call."""
        yield from self._frames.new()

    def ended(self) -> int | None:
        """Return the exit code, or None while the process runs. Kill a process that makes no progress."""
        code = self._process.poll()
        at, now = self._at(), time.monotonic()
        if at != self.last:
            self.last, self._since = at, now
        # The deadline is processor time, which a process that waits for a disk never uses up.
        if code is None and now - self._since > STALL:
            self._process.kill()
            code = self._process.wait()
        return code

    def _at(self) -> FilePosition | None:
        note = os.pread(self._note.fileno(), NOTE.size, 0)
        return FilePosition(*NOTE.unpack(note)) if len(note) == NOTE.size else None

    def close(self) -> None:
        """Kill the process if it still runs, and close its files."""
        self._process.kill()
        self._process.wait()
        self._output.close()
        self._note.close()


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
