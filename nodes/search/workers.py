"""Batches become columns; they are parsed on several cores where there is enough to parse.

Helpers are plain child processes: nothing is forked, and it makes no difference what the parent's main module or
standard input is. Parent and helpers take the numbers of batches from one file, so that none is idle while another is
behind; what a helper made it leaves in a file, so that no pipe can fill up. Helpers parse, and the parent alone counts
words: each word is learnt once, and a helper, which need not load numpy, starts in a third of the time.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Self

from nodes.search.helper import claimed, claims_of, next_frame
from nodes.search.parsing import Job, Parsed, parse_here
from nodes.search.postings import Vocabulary
from nodes.search.records import build_columns

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nodes.search.columns import Columns
    from nodes.search.git import Repository

WORTH_A_PROCESS = 600_000
"""Bytes to parse from which starting a second process pays."""
MOST_PROCESSES = 4
REMEMBERED = 1 << 19  # words; a vocabulary that has more is begun anew, so that memory stays bounded


@dataclass(frozen=True, slots=True)
class Built:
    """What one batch gave: a file for each of its jobs, in their order."""

    number: int
    columns: Columns
    complete: bool
    """Whether every blob could be read; one that could not has no rows."""


def build(repository: Repository, batches: Sequence[Sequence[Job]]) -> Iterator[Built]:
    """Build the columns of every batch; they come in no particular order."""
    vocabulary = Vocabulary()
    for parsed in _parse(repository, batches):
        if len(vocabulary) > REMEMBERED:
            vocabulary = Vocabulary()
        yield Built(parsed.number, build_columns(vocabulary, parsed.texts), parsed.complete)


def _parse(repository: Repository, batches: Sequence[Sequence[Job]]) -> Iterator[Parsed]:
    """Parse every batch, each as soon as a process is free."""
    size = sum(job.size for batch in batches for job in batch)
    done: set[int] = set()
    with ExitStack() as stack:
        claims = stack.enter_context(tempfile.TemporaryFile(buffering=0))
        claims.write(claims_of(len(batches)))
        claims.seek(0)
        count = processes_for(size) - 1
        helpers = [stack.enter_context(Helper(repository, batches, claims)) for _ in range(count)]
        for parsed in _from_all(helpers, parse_here(repository, batches, claimed(claims.fileno()))):
            done.add(parsed.number)
            yield parsed
    if undone := [number for number in range(len(batches)) if number not in done]:  # by a helper that was killed
        yield from parse_here(repository, batches, undone)


def _from_all(helpers: Sequence[Helper], own: Iterator[Parsed]) -> Iterator[Parsed]:
    """Yield what helpers made before anything is parsed here, so that little of it waits."""
    for parsed in own:
        yield parsed
        for helper in helpers:
            yield from helper.finished()
    for helper in helpers:
        yield from helper.rest()


def processes_for(size: int) -> int:
    """How many processes so many bytes are worth, this one included."""
    return max(1, min(MOST_PROCESSES, available_cores(), size // WORTH_A_PROCESS + 1))


def available_cores() -> int:
    """Count the cores this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


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
                [sys.executable, "-P", "-m", "nodes.search.helper", str(claims.fileno())],
                stdin=task,
                stdout=self._output,
                stderr=subprocess.DEVNULL,
                pass_fds=[claims.fileno()],
                env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
            )

    def finished(self) -> Iterator[Parsed]:
        """Yield what was made since the last time."""
        while frame := next_frame(self._output.fileno(), self._read):
            parsed, self._read = frame
            yield parsed

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
