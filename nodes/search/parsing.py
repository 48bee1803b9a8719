"""Jobs become columns, batch by batch, in this process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nodes.search.blobs import MOST_AT_ONCE, BlobReader
from nodes.search.postings import Vocabulary
from nodes.search.records import build_columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from nodes.search.columns import Columns
    from nodes.search.git import Repository

BATCH_BYTES = 1_000_000
"""Text parsed at a time: enough for arrays to pay, little enough to stay near the processor."""
REMEMBERED = 1 << 19  # words; a vocabulary that has more is begun anew, so that memory stays bounded


@dataclass(frozen=True, slots=True)
class Job:
    """One blob to parse, as the language that its path says."""

    key: str
    path: str
    blob: str
    size: int


@dataclass(frozen=True, slots=True)
class Parsed:
    """What one batch gave: a file for each of its jobs, in their order."""

    number: int
    columns: Columns
    complete: bool
    """Whether every blob could be read; one that could not has no rows."""


def cut_batches(jobs: Sequence[Job]) -> list[list[Job]]:
    """Cut jobs into batches, in their order."""
    batches: list[list[Job]] = []
    room = -1
    for job in jobs:
        if room < job.size or len(batches[-1]) >= MOST_AT_ONCE:
            batches.append([])
            room = max(BATCH_BYTES, job.size)
        batches[-1].append(job)
        room -= job.size
    return batches


def parse_here(repository: Repository, batches: Sequence[Sequence[Job]], numbers: Iterable[int]) -> Iterator[Parsed]:
    """Parse the batches of these numbers in this process."""
    vocabulary = Vocabulary()
    with BlobReader(repository) as reader:
        for number in numbers:
            if len(vocabulary) > REMEMBERED:
                vocabulary = Vocabulary()
            contents = reader.read([job.blob for job in batches[number]])
            files = [(job.path, content or b"") for job, content in zip(batches[number], contents, strict=True)]
            yield Parsed(number, build_columns(vocabulary, files), None not in contents)
