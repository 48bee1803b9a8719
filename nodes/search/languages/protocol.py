"""A helper process as its parent sees it, and what the two exchange: jobs, texts, a task and frames."""

import json
import marshal
import os
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple
from zlib import crc32

from nodes.search.git.objects import is_text
from nodes.search.languages.table import outline_without_parser
from nodes.search.types import Definition, Outline

STALL = 180.0
"""Seconds of wall time without progress after which a helper is killed, far beyond the deadline of any file."""
PLAIN = Outline("text")
"""The outline of a file that is only searched by its words."""
TOO_MUCH_MEMORY = 3
"""Exit code after an allocation of Python failed; if a parser's allocation fails, the process ends with SIGABRT."""
FAULTS = frozenset(
    (-signal.SIGPROF, -signal.SIGXCPU, -signal.SIGABRT, -signal.SIGSEGV, -signal.SIGBUS, TOO_MUCH_MEMORY)
)
"""Exit codes for which the current file is at fault; all others may have another cause."""
_HEAD = struct.Struct("<II")
"""Checksum and length of the body of a frame."""
_AT_ONCE = 4_000_000
"""Maximum bytes per read of an output, unless one frame is larger."""


class FilePosition(NamedTuple):
    """The file that a helper works on."""

    number: int
    processor: float
    """Seconds of processor time that the helper used before this file."""


class Helper:
    """A child process that parses some files."""

    def __init__(self, task: "Task") -> None:
        """Start the process; raise OSError if none can be started now."""
        self.jobs = task.jobs
        """Its files."""
        self.last: FilePosition | None = None
        """The last file that the helper is known to have begun; None if none is."""
        # A file instead of a pipe, so that a helper never waits for its parent to read.
        self._output = tempfile.TemporaryFile()  # noqa: SIM115 - ``close`` closes it
        self._read = 0
        self._since = time.monotonic()
        with tempfile.TemporaryFile() as order:
            order.write(json.dumps(task).encode())
            order.seek(0)
            self._process = subprocess.Popen(
                # -P keeps the current directory off sys.path: it may belong to anyone
                [sys.executable, "-P", "-m", "nodes.search.languages.helper"],
                stdin=order,
                stdout=self._output,
                # A parser that aborts may print its assertion; the exit code is sufficient.
                stderr=subprocess.DEVNULL,
                # The program may be run from a checkout without being installed.
                env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[3])},
            )

    def new(self) -> Iterator[tuple[int, "Outlined | None"]]:
        """Yield the texts since the last call with the numbers of their files; None for a missing blob."""
        output = self._output.fileno()
        while True:
            head = os.pread(output, _HEAD.size, self._read)
            size = max(_AT_ONCE, _HEAD.size + _HEAD.unpack(head)[1]) if len(head) == _HEAD.size else 0
            bodies, end = _bodies(os.pread(output, size, self._read))
            if not bodies:
                return
            self._read += end
            for body in bodies:
                number, value = marshal.loads(body)  # noqa: S302 - our own child process wrote it
                self._since = time.monotonic()
                if isinstance(value, float):
                    self.last = FilePosition(number, value)
                else:
                    yield number, None if value is None else _text(*value)

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


def used(at: FilePosition, size: int, code: int) -> float:
    """Return the seconds of processor time that a helper used until it ended, at a file of ``size`` bytes."""
    # SIGPROF comes from the file's timer, so the file has used its whole deadline.
    return at.processor + (deadline(size) if code == -signal.SIGPROF else 0.0)


class BlobToParse(NamedTuple):
    """One blob to parse, as the language that its path indicates."""

    key: str
    path: str
    blob: str
    size: int
    number: int = 0
    """Its position among the jobs of an index."""


class Outlined(NamedTuple):
    """The content and the outline of one blob."""

    content: bytes
    """Empty if the blob is not text."""
    outline: Outline


class Task(NamedTuple):
    """The content of a helper's standard input."""

    directory: str
    jobs: list[BlobToParse]
    """Files to parse."""
    parent: int
    """Id of the process that waits for the result; when it has ended, the helper stops."""
    gave_up: list[str]
    """Languages that missed too many deadlines: their files stay plain text."""


def load_task(stream: IO[str]) -> Task:
    """Parse the JSON of a task."""
    directory, jobs, *rest = json.load(stream)
    return Task(directory, [BlobToParse(*fields) for fields in jobs], *rest)


def text_without_parser(path: str, content: bytes) -> Outlined | None:
    """Outline one blob in time linear in its size; None if only a parser can do that."""
    if not content or not is_text(content):
        return Outlined(b"", PLAIN)
    outline = outline_without_parser(path, content)
    return None if outline is None else Outlined(content, outline)


def plain_text(path: str, content: bytes) -> Outlined:
    """Outline one blob as far as no parser is needed."""
    return text_without_parser(path, content) or Outlined(content, PLAIN)


def deadline(size: int) -> float:
    """Return the seconds of processor time that a parser may use for a file of ``size`` bytes.

    Files without errors needed at most a fifth of this, in seven repositories in ten languages.
    """
    # Processor time instead of wall time, so that a busy machine does not change the index.
    return 0.5 + size * 1.5e-6


def packed(number: int, value: float | Outlined | None) -> bytes:
    """Return a frame about a file: the seconds of processor time used before it, its text, or None if it is missing."""
    body: Any = value
    if isinstance(value, Outlined):
        outline = value.outline
        definitions = [(item.name, item.kind, item.start_line, item.end_line) for item in outline.definitions]
        body = (value.content, outline.language, definitions, outline.imports, outline.strings)
    # ``marshal`` is faster than pickle and JSON, and both processes run the same interpreter.
    frame = marshal.dumps((number, body))
    return _HEAD.pack(crc32(frame), len(frame)) + frame


def _bodies(block: bytes) -> tuple[list[memoryview], int]:
    """Return the bodies of the frames in a block, and where the last of them ends."""
    bodies: list[memoryview] = []
    at = 0
    while len(block) >= at + _HEAD.size:
        checksum, length = _HEAD.unpack_from(block, at)
        body = memoryview(block)[at + _HEAD.size : at + _HEAD.size + length]
        # A helper that the kernel ended while it wrote leaves an incomplete frame at the end.
        if len(body) < length or crc32(body) != checksum:
            break
        at += _HEAD.size + length
        bodies.append(body)
    return bodies, at


def _text(content: bytes, language: str, definitions: list[tuple[Any, ...]], *rest: Any) -> Outlined:
    return Outlined(content, Outline(language, tuple(Definition(*fields) for fields in definitions), *rest))
