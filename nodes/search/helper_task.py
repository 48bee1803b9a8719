"""The protocol between a parent process and its helpers: tasks, claims, notes and deadlines."""

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
"""Exit code after an allocation of Python failed; if a parser's allocation fails, the process ends with SIGABRT."""
_NUMBER = struct.Struct("<I")
NOTE = struct.Struct("<iid")
"""Number of the batch, number of the file in it, and the seconds of processor time used before."""


def deadline(size: int) -> float:
    """Return the seconds of processor time that a parser may use for a file of ``size`` bytes.

    Files without errors needed at most a fifth of this, in seven repositories in ten languages.
    """
    # Processor time instead of wall time, so that a busy machine does not change the index.
    return 0.5 + size * 1.5e-6


def claims_of(batches: Sequence[int]) -> bytes:
    """Return the content of a file from which processes claim the numbers of batches."""
    return b"".join(map(_NUMBER.pack, batches))


def claimed(descriptor: int) -> Iterator[int]:
    """Claim numbers one by one: all processes share the descriptor's offset, which each read advances."""
    while len(number := os.read(descriptor, _NUMBER.size)) == _NUMBER.size:
        yield _NUMBER.unpack(number)[0]


@dataclass(frozen=True, slots=True)
class Task:
    """The content of a helper's standard input."""

    directory: str
    batches: list[list[Job]]
    first: list[tuple[int, list[int]]]
    """Batches to parse first, and the numbers of the files in them."""
    claims: list[int]
    """Descriptors of files with claims, in the order of use."""
    note: int
    """Descriptor of the file for the note."""
    parent: int
    """Id of the process that waits for the result; when it has ended, the helper stops."""
    gave_up: list[str]
    """Languages that missed too many deadlines: their files stay plain text."""

    def dump(self) -> bytes:
        """Return JSON for ``load_task``."""
        batches = [[[job.key, job.path, job.blob, job.size] for job in batch] for batch in self.batches]
        fields = [self.directory, batches, self.first, self.claims, self.note, self.parent, self.gave_up]
        return json.dumps(fields).encode()


def load_task(stream: IO[str]) -> Task:
    """Parse a task."""
    directory, batches, *rest = json.load(stream)
    return Task(directory, [[Job(*fields) for fields in batch] for batch in batches], *rest)
