"""Batches are parsed on several cores where there is enough to parse.

Helpers are plain child processes (``python -m nodes.search.workers``): nothing is forked, and it makes no difference
what the parent's main module or standard input is. Parent and helpers take the numbers of batches from one file, so
that none is idle while another is behind; what a helper made it leaves in a file, so that no pipe can fill up.
"""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import IO, TYPE_CHECKING, Self

from nodes.search.columns import is_sound, unpack
from nodes.search.git import Repository
from nodes.search.parsing import Job, Parsed, parse_here

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

WORTH_A_PROCESS = 1_500_000
"""Bytes to parse from which starting a second process pays."""
MOST_PROCESSES = 4
_NUMBER = struct.Struct("<I")
_FRAME = struct.Struct("<I?xxxI")  # number of the batch, whether it is complete, and the length of its columns


def parse(repository: Repository, batches: Sequence[Sequence[Job]]) -> Iterator[Parsed]:
    """Parse every batch, each as soon as a process is free; they come in no particular order."""
    size = sum(job.size for batch in batches for job in batch)
    done: set[int] = set()
    with ExitStack() as stack:
        claims = stack.enter_context(tempfile.TemporaryFile(buffering=0))
        claims.write(b"".join(map(_NUMBER.pack, range(len(batches)))))
        claims.seek(0)
        count = processes_for(size) - 1
        helpers = [stack.enter_context(Helper(repository, batches, claims)) for _ in range(count)]
        for parsed in parse_here(repository, batches, claimed(claims.fileno())):
            for one in (parsed, *(one for helper in helpers for one in helper.finished())):
                done.add(one.number)
                yield one
        for helper in helpers:
            for one in helper.rest():
                done.add(one.number)
                yield one
    if undone := [number for number in range(len(batches)) if number not in done]:  # by a helper that was killed
        yield from parse_here(repository, batches, undone)


def processes_for(size: int) -> int:
    """How many processes so many bytes are worth, this one included."""
    return max(1, min(MOST_PROCESSES, available_cores(), size // WORTH_A_PROCESS + 1))


def available_cores() -> int:
    """Count the cores this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def claimed(descriptor: int) -> Iterator[int]:
    """Take numbers one by one: all processes share the descriptor's offset, which each read moves on."""
    while len(number := os.read(descriptor, _NUMBER.size)) == _NUMBER.size:
        yield _NUMBER.unpack(number)[0]


class Helper:
    """A child process that parses batches until there are none left."""

    def __init__(self, repository: Repository, batches: Sequence[Sequence[Job]], claims: IO[bytes]) -> None:
        self._output = tempfile.TemporaryFile()  # noqa: SIM115 - closed at the end
        self._read = 0
        order = [os.fspath(repository.directory), [[[j.key, j.path, j.blob, j.size] for j in b] for b in batches]]
        with tempfile.TemporaryFile() as task:
            task.write(json.dumps(order).encode())
            task.seek(0)
            self._process = subprocess.Popen(
                # -P: the current directory may be anybody's
                [sys.executable, "-P", "-m", "nodes.search.workers", str(claims.fileno())],
                stdin=task,
                stdout=self._output,
                stderr=subprocess.DEVNULL,
                pass_fds=[claims.fileno()],
                env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
            )

    def finished(self) -> Iterator[Parsed]:
        """Yield what was made since the last time."""
        descriptor = self._output.fileno()
        while len(head := os.pread(descriptor, _FRAME.size, self._read)) == _FRAME.size:
            number, complete, length = _FRAME.unpack(head)
            packed = os.pread(descriptor, length, self._read + _FRAME.size)
            if len(packed) < length or not is_sound(packed):  # still being written, or never to be
                return
            self._read += _FRAME.size + length
            yield Parsed(number, unpack([packed]), complete)

    def rest(self) -> Iterator[Parsed]:
        """Wait for the child to end, and yield what is left."""
        self._process.wait()
        yield from self.finished()

    def __enter__(self) -> Self:
        """Nothing to do: the child runs already."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the child, if it still runs."""
        self._process.kill()
        self._process.wait()
        self._output.close()


def main() -> None:
    """Parse in a child process, for as long as the parent lives."""
    parent = os.getppid()
    directory, batches = json.load(sys.stdin)
    jobs = [[Job(*fields) for fields in batch] for batch in batches]
    for parsed in parse_here(Repository(Path(directory)), jobs, claimed(int(sys.argv[1]))):
        packed = parsed.columns.pack()
        sys.stdout.buffer.write(_FRAME.pack(parsed.number, parsed.complete, len(packed)) + packed)
        sys.stdout.buffer.flush()
        if os.getppid() != parent:
            return


if __name__ == "__main__":
    main()
