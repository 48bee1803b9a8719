"""What a parent process and its helpers agree on: tasks, claims, notes and deadlines."""

from __future__ import annotations

import json
import os
import struct
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

from nodes.search.parsing import Job

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

TOO_MUCH_MEMORY = 3
"""The exit code after an allocation of Python's failed; a parser's ends the process with SIGABRT."""
_NUMBER = struct.Struct("<I")
NOTE = struct.Struct("<iid")
"""Number of the batch, of the file in it, and the seconds of processor time used before."""


def deadline(size: int) -> float:
    """Return the seconds of processor time that a parser may take for a file of some bytes.

    Sound files took at most a fifth of this, on seven repositories in ten languages.
    """
    return 0.5 + size * 1.5e-6


def claims_of(batches: Sequence[int]) -> bytes:
    """Return the content of a file from which processes take the numbers of batches."""
    return b"".join(map(_NUMBER.pack, batches))


def claimed(descriptor: int) -> Iterator[int]:
    """Take numbers one by one: all processes share the descriptor's offset, which each read advances."""
    while len(number := os.read(descriptor, _NUMBER.size)) == _NUMBER.size:
        yield _NUMBER.unpack(number)[0]


@dataclass(frozen=True, slots=True)
class Task:
    """What the parent writes to a helper's standard input."""

    directory: str
    batches: list[list[Job]]
    first: list[tuple[int, list[int]]]
    """Batches to begin with, and the numbers of the files in them."""
    claims: list[int]
    """Descriptors of files with claims, in the order in which they are used up."""
    note: int
    """Descriptor of the file for the note."""
    parent: int
    """The process that waits for the result; without it there is nothing to do."""
    gave_up: list[str]
    """Languages that missed too many deadlines: their files stay plain text."""

    def dump(self) -> bytes:
        """Return JSON that ``load_task`` reads."""
        batches = [[[job.key, job.path, job.blob, job.size] for job in batch] for batch in self.batches]
        fields = [self.directory, batches, self.first, self.claims, self.note, self.parent, self.gave_up]
        return json.dumps(fields).encode()


def load_task(stream: IO[str]) -> Task:
    """Read a task."""
    directory, batches, *rest = json.load(stream)
    return Task(directory, [[Job(*fields) for fields in batch] for batch in batches], *rest)
