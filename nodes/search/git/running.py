"""Runs a git process with limits for output, time and memory."""

import io
import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Any, Literal, Self

from nodes.search.git.errors import GitFailed

Cut = Literal["bytes", "seconds", "entries", "memory"]
"""The limit that ended a command."""
_CHUNK = 1 << 16
_RECORD = 1_000_000
"""Bytes of one line or entry; no path and no name is longer."""
_STDERR = 4_096
_STDERR_FILE = 16_000_000
"""Maximum bytes of error messages that git may write to the file."""
SAFE = (
    # The configuration of a repository may name commands that git runs. ``safe.directory`` permits other owners.
    *("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "safe.directory=*"),
    # Limits git's memory for packs and deltas, whatever the repository's own configuration sets.
    *("-c", "core.packedGitWindowSize=32m", "-c", "core.packedGitLimit=256m", "-c", "core.deltaBaseCacheLimit=32m"),
)
QUIET = {
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    # No user or system settings and no replacement objects: the content always matches the object id.
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_GRAFT_FILE": os.devnull,
    # Before 2.45, git fetches missing objects despite GIT_NO_LAZY_FETCH, with a command that the repository may set.
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """Limits for the output, time and memory of one git command."""

    entries: int = 200_000
    """Number of files in a listing."""
    listing: int = 40_000_000
    """Bytes of a listing."""
    output: int = 32_000_000
    """Bytes of the output of any other command."""
    seconds: float = 60.0
    """Total time spent waiting for output."""
    memory: int = 1 << 29
    """Bytes of private memory of the git process; packs that it maps do not count."""


class Running:
    """A running git process; as a context manager, it ends the process at exit."""

    def __init__(
        self,
        command: Sequence[str | bytes],
        *,
        stdin: IO[bytes] | int,
        env: Mapping[str, str],
        limits: ReadLimits,
        most: int | None = None,
    ) -> None:
        """Start a command with a file as its input, and its whole environment; raises ``GitFailed`` if there is no git.

        The caller limits the output itself if ``most``, the maximum bytes, is None.
        """
        # A file instead of a pipe, which would block git once 64 kB of messages are unread.
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115  ``__exit__`` closes it
        try:
            self.process = subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE, stderr=self._stderr, env=env)
        except FileNotFoundError as error:
            self._stderr.close()
            raise GitFailed("git is not installed, or not on the PATH") from error
        # From outside after the start: code between fork and exec is unsafe in a process with threads.
        _confine(self.process.pid, limits.memory)
        self._pipe = _Pipe(self.process, most, limits.seconds)
        self.out = io.BufferedReader(self._pipe, _CHUNK)
        """The output, up to the limit."""

    @property
    def cut(self) -> Cut | None:
        """The limit that ended the process, or None."""
        return self._pipe.cut

    def records(self, separator: bytes, most: int) -> Iterator[bytes]:
        """Yield the records before each separator, at most ``most``; drop an incomplete last one."""
        pending, count = b"", 0
        while chunk := self.out.read1(_CHUNK):
            *complete, pending = (pending + chunk).split(separator)
            yield from complete[: most - count]
            count += len(complete)
            if count > most:
                return self._pipe.stop("entries")
            if len(pending) > _RECORD:
                return self._pipe.stop("bytes")
        return None

    def finish(self) -> int:
        """Wait for the end of the process, and return its exit code; raises ``GitFailed`` if Ctrl-C ended it."""
        try:
            code = self.process.wait(self._pipe.remaining)
        except subprocess.TimeoutExpired:
            self._pipe.stop("seconds")
            code = self.process.wait()
        # Ctrl-C in a terminal reaches git too; its output is incomplete then.
        if code == -signal.SIGINT:
            raise GitFailed("git was stopped by Ctrl-C")
        # Another signal that this process did not send: a stack overflow, or the system was out of memory.
        # Git's messages differ by place: "Out of memory, malloc failed", "Cannot allocate memory".
        if code < 0 or (code > 0 and b"emory" in self.stderr_tail()):
            self._pipe.stop("memory")
        return code

    def stderr_tail(self) -> bytes:
        """Return the end of the standard error output."""
        size = self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, size - _STDERR))
        return self._stderr.read()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        # SIGKILL, not SIGTERM: git only reads here, so nothing needs cleaning up.
        self.process.kill()
        self.process.wait()
        self.out.close()
        if self.process.stdout is not None:
            self.process.stdout.close()
        self._stderr.close()


class _Pipe(io.RawIOBase):
    """A process's output that ends when a limit is reached; the process is killed then."""

    def __init__(self, process: subprocess.Popen[bytes], most: int | None, seconds: float) -> None:
        if process.stdout is None:
            raise ValueError("the output is not a pipe")
        self.cut: Cut | None = None
        self.remaining = seconds
        self._process = process
        self._most = most
        # ``select.select`` fails for descriptors above 1023, which a busy server has.
        self._poll = select.poll()
        self._descriptor = process.stdout.fileno()
        self._poll.register(self._descriptor, select.POLLIN)

    def readable(self) -> bool:
        """Return True: the stream is read-only."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Wait for output; return 0 at its end and when a limit is reached."""
        if self.cut is not None or not self._wait():
            return 0
        view = memoryview(buffer)
        # One extra byte distinguishes an output that ends at the limit from one that exceeds it.
        received = os.readv(self._descriptor, [view if self._most is None else view[: self._most + 1]])
        if self._most is None:
            return received
        if received > self._most:
            self.stop("bytes")
        accepted = min(received, self._most)
        self._most -= accepted
        return accepted

    def stop(self, why: Cut) -> None:
        """Kill the process; later output is not read."""
        if self.cut is None:
            self.cut = why
        self._process.kill()

    def _wait(self) -> bool:
        """Wait for output within the time left. Only waiting counts, so a slow reader does not use up git's time."""
        started = time.monotonic()
        # A negative time would wait forever.
        ready = self._poll.poll(max(0.0, self.remaining) * 1_000)
        self.remaining -= time.monotonic() - started
        if not ready:
            self.stop("seconds")
        return bool(ready)


def environment() -> dict[str, str]:
    """Return the process environment without git's variables, plus those that prevent side effects."""
    others = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return others | QUIET


def _confine(pid: int, memory: int) -> None:
    """Limit a process's private memory and the files it writes, if the system can (Linux)."""
    try:
        import resource  # noqa: PLC0415  POSIX only

        limit = resource.prlimit
    except (ImportError, AttributeError):
        return
    with suppress(ProcessLookupError, PermissionError):
        # Not RLIMIT_AS: git maps whole packs, which are address space but not private memory.
        limit(pid, resource.RLIMIT_DATA, (memory, memory))
        limit(pid, resource.RLIMIT_FSIZE, (_STDERR_FILE, _STDERR_FILE))
