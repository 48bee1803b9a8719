"""Blobs become texts with their outlines, batch by batch, in this process.

Nothing here needs numpy, which would take a child process longer to load than all the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from nodes.search.blobs import MOST_AT_ONCE, BlobReader
from nodes.search.git import is_text
from nodes.search.languages import outline
from nodes.search.types import Outline

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from nodes.search.git import Repository

BATCH_BYTES = 250_000
"""Text parsed at a time: enough for arrays to pay, little enough that no process waits long for the last one."""


@dataclass(frozen=True, slots=True)
class Job:
    """One blob to parse, as the language that its path says."""

    key: str
    path: str
    blob: str
    size: int


class Text(NamedTuple):
    """What one blob says."""

    content: bytes
    """Nothing where it is no text."""
    outline: Outline


@dataclass(frozen=True, slots=True)
class Parsed:
    """What one batch gave: a text for each of its jobs, in their order."""

    number: int
    texts: list[Text]
    complete: bool
    """Whether every blob could be read; one that could not is an empty text."""


def cut_batches(jobs: Sequence[Job]) -> list[list[Job]]:
    """Cut jobs into batches, in their order; the largest come first, so that no process is left alone with one."""
    batches: list[list[Job]] = []
    room = -1
    for job in jobs:
        if room < job.size or len(batches[-1]) >= MOST_AT_ONCE:
            batches.append([])
            room = max(BATCH_BYTES, job.size)
        batches[-1].append(job)
        room -= job.size
    return sorted(batches, key=lambda batch: -sum(job.size for job in batch))


def parse_here(repository: Repository, batches: Sequence[Sequence[Job]], numbers: Iterable[int]) -> Iterator[Parsed]:
    """Parse the batches of these numbers in this process."""
    with BlobReader(repository) as reader:
        for number in numbers:
            contents = reader.read([job.blob for job in batches[number]])
            found = zip(batches[number], contents, strict=True)
            texts = [parse_text(job.path, content or b"") for job, content in found]
            yield Parsed(number, texts, None not in contents)


def parse_text(path: str, content: bytes) -> Text:
    """Parse one blob, given with a path that it has."""
    return Text(content, outline(path, content)) if content and is_text(content) else Text(b"", Outline("text"))
