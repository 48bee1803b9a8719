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

from nodes.search.frames import Output
from nodes.search.helper_task import NOTE, TOO_MUCH_MEMORY, Task, deadline

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nodes.search.frames import Frame
    from nodes.search.git import Repository
    from nodes.search.parsing import Job

STALL = 180.0
"""Seconds of wall time without progress, far beyond any file's deadline, after which a helper is ended."""
_FAULTS = frozenset(
    (-signal.SIGPROF, -signal.SIGXCPU, -signal.SIGABRT, -signal.SIGSEGV, -signal.SIGBUS, TOO_MUCH_MEMORY)
)
"""Exit codes that are the fault of the file at hand; every other may have another reason."""


class At(NamedTuple):
    """The file that a helper works on."""

    batch: int
    file: int
    processor: float
    """Seconds of processor time that the helper used before it."""


class Helper:
    """A child process that parses batches until there are none left."""

    def __init__(
        self,
        repository: Repository,
        batches: Sequence[Sequence[Job]],
        claims: Sequence[int],
        *,
        first: Sequence[tuple[int, list[int]]] = (),
        gave_up: Sequence[str] = (),
    ) -> None:
        """Start it.

        Args:
            repository: where blobs are read.
            batches: all of them.
            claims: descriptors of the files from which batches are taken.
            first: batches to begin with, and the files in them.
            gave_up: languages whose files stay plain text.

        Raises:
            OSError: no process can be started now.
        """
        self.first = list(first)
        self._output = tempfile.TemporaryFile()  # noqa: SIM115 - closed at the end
        self._note = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115
        self._frames = Output(self._output.fileno())
        self.last: At | None = None
        """The file that it worked on when ``ended`` was asked; None before the first."""
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
        )
        with tempfile.TemporaryFile() as order:
            order.write(task.dump())
            order.seek(0)
            self._process = subprocess.Popen(
                # -P: the current directory may be anybody's
                [sys.executable, "-P", "-m", "nodes.search.helper"],
                stdin=order,
                stdout=self._output,
                stderr=subprocess.DEVNULL,
                pass_fds=[*claims, note],
                env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
            )

    def new(self) -> Iterator[Frame]:
        """Yield what it made since the last time."""
        yield from self._frames.new()

    def ended(self) -> int | None:
        """Return its exit code, or None while it works; one that makes no progress is ended."""
        code = self._process.poll()
        at, now = self._at(), time.monotonic()
        if at != self.last:
            self.last, self._since = at, now
        if code is None and now - self._since > STALL:
            self._process.kill()
            code = self._process.wait()
        return code

    def _at(self) -> At | None:
        note = os.pread(self._note.fileno(), NOTE.size, 0)
        return At(*NOTE.unpack(note)) if len(note) == NOTE.size else None

    def close(self) -> None:
        """End the process, if it still runs."""
        self._process.kill()
        self._process.wait()
        self._output.close()
        self._note.close()


def is_fault_of_file(code: int) -> bool:
    """Whether an exit code says that the file at hand ended the process."""
    return code in _FAULTS


def used(at: At, size: int, code: int) -> float:
    """Return the seconds of processor time that a helper took until it ended at a file of some bytes."""
    return at.processor + (deadline(size) if code == -signal.SIGPROF else 0.0)
