"""A git process whose output, time and memory are bounded."""

from __future__ import annotations

import io
import os
import select
import subprocess
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Literal, Self

from nodes.search.errors import GitFailed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

Cut = Literal["bytes", "seconds", "entries", "memory"]
"""Which limit ended a command."""
_CHUNK = 1 << 16
_RECORD = 1_000_000
"""Bytes of one line or entry: no path and no name is longer."""
_STDERR = 4_096
_STDERR_FILE = 16_000_000
"""Bytes of messages that git may leave in a file."""


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """How much one command of git may print, take and use."""

    entries: int = 200_000
    """Files of a listing."""
    listing: int = 40_000_000
    """Bytes of a listing."""
    output: int = 32_000_000
    """Bytes that any other command prints."""
    seconds: float = 60.0
    """Time spent waiting for output."""
    memory: int = 1 << 29
    """Bytes of private memory of the git process; packs that it maps do not count."""


class Running:
    """A git that runs; a context manager, at whose end the process is gone."""

    def __init__(
        self,
        command: Sequence[str | bytes],
        *,
        stdin: IO[bytes] | int,
        env: Mapping[str, str],
        limits: ReadLimits,
        most: int | None = None,
    ) -> None:
        """Start a command.

        Args:
            command: with its arguments.
            stdin: a file, or ``subprocess.PIPE``.
            env: its whole environment.
            limits: of time and memory.
            most: bytes that it may print; None for a command whose output the caller bounds itself.

        Raises:
            GitFailed: git is not installed.
        """
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115  closed at the end
        try:
            self.process = subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE, stderr=self._stderr, env=env)
        except FileNotFoundError as error:
            self._stderr.close()
            raise GitFailed("git is not installed, or not on the PATH") from error
        _confine(self.process.pid, limits.memory)
        self._pipe = _Pipe(self.process, most, limits.seconds)
        self.out = io.BufferedReader(self._pipe, _CHUNK)
        """Its output, up to a limit."""

    @property
    def cut(self) -> Cut | None:
        """Which limit ended it, if one did."""
        return self._pipe.cut

    @property
    def stdin(self) -> IO[bytes] | None:
        """What it reads, where that is a pipe."""
        return self.process.stdin

    def records(self, separator: bytes, most: int) -> Iterator[bytes]:
        """Yield what stands before each separator, at most so many times; an unfinished last one is left out."""
        pending, count = b"", 0
        while chunk := self.out.read1(_CHUNK):
            *whole, pending = (pending + chunk).split(separator)
            yield from whole[: most - count]
            count += len(whole)
            if count > most:
                return self._pipe.stop("entries")
            if len(pending) > _RECORD:
                return self._pipe.stop("bytes")
        return None

    def more_time(self) -> None:
        """Allow the whole time again, for the next question to the same process."""
        self._pipe.more_time()

    def finish(self) -> int:
        """Wait for the end after the last output, and return the exit code."""
        try:
            code = self.process.wait(self._pipe.left)
        except subprocess.TimeoutExpired:
            self._pipe.stop("seconds")
            code = self.process.wait()
        # A signal that is not ours: the stack overflowed, or the system needed the memory.
        if code < 0 or (code > 0 and b"emory" in self.complaint()):
            self._pipe.stop("memory")
        return code

    def complaint(self) -> bytes:
        """Return the end of what it wrote to standard error."""
        size = self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, size - _STDERR))
        return self._stderr.read()

    def __enter__(self) -> Self:
        """Nothing to do: the process runs already."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        self.process.kill()
        if self.process.stdin is not None:
            with suppress(BrokenPipeError):
                self.process.stdin.close()
        self.process.wait()
        self.out.close()
        if self.process.stdout is not None:
            self.process.stdout.close()
        self._stderr.close()


class _Pipe(io.RawIOBase):
    """A process's output that ends where a limit is met; the process is killed then."""

    def __init__(self, process: subprocess.Popen[bytes], most: int | None, seconds: float) -> None:
        if process.stdout is None:
            raise ValueError("the output is not a pipe")
        self.cut: Cut | None = None
        self.left = self._seconds = seconds
        self._process = process
        self._most = most
        self._poll = select.poll()
        self._descriptor = process.stdout.fileno()
        self._poll.register(self._descriptor, select.POLLIN)

    def readable(self) -> bool:
        """It is nothing else."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Wait for output; 0 at its end, and where a limit is met."""
        if self.cut is not None or not self._wait():
            return 0
        view = memoryview(buffer)
        # One byte more than is allowed tells an output that ends at the limit from one that goes past it.
        got = os.readv(self._descriptor, [view if self._most is None else view[: self._most + 1]])
        if self._most is None:
            return got
        if got > self._most:
            self.stop("bytes")
        kept = min(got, self._most)
        self._most -= kept
        return kept

    def more_time(self) -> None:
        self.left = self._seconds

    def stop(self, why: Cut) -> None:
        """End the process; what it printed after this is not read."""
        if self.cut is None:
            self.cut = why
        self._process.kill()

    def _wait(self) -> bool:
        """Wait for output, by the time that all waits may take together: a slow reader costs git nothing."""
        began = time.monotonic()
        ready = self._poll.poll(max(0.0, self.left) * 1_000)
        self.left -= time.monotonic() - began
        if not ready:
            self.stop("seconds")
        return bool(ready)


def _confine(pid: int, memory: int) -> None:
    """Bound a process's private memory and the files it writes, where the system can (Linux)."""
    try:
        import resource  # noqa: PLC0415  POSIX only

        limit = resource.prlimit
    except (ImportError, AttributeError):
        return
    with suppress(ProcessLookupError, PermissionError):
        limit(pid, resource.RLIMIT_DATA, (memory, memory))
        limit(pid, resource.RLIMIT_FSIZE, (_STDERR_FILE, _STDERR_FILE))
