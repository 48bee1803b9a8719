"""Blobs become texts with their outlines; in this module without any parser.

Nothing here needs numpy, which would take a child process longer to load than all the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from nodes.search.blobs import MOST_AT_ONCE
from nodes.search.git import is_text
from nodes.search.languages import outline_without_parser
from nodes.search.types import Outline

if TYPE_CHECKING:
    from collections.abc import Sequence

BATCH_BYTES = 250_000
"""Text parsed at a time: enough for arrays to pay, little enough that no process waits long for the last one."""
PLAIN = Outline("text")
"""The outline of a file that is only searched by its words."""


@dataclass(frozen=True, slots=True)
class Job:
    """One blob to parse, as the language that its path names."""

    key: str
    path: str
    blob: str
    size: int


class Text(NamedTuple):
    """The content and the outline of one blob."""

    content: bytes
    """Empty where it is no text."""
    outline: Outline


@dataclass(frozen=True, slots=True)
class Parsed:
    """The result of one batch: a text for each of its jobs, in their order."""

    number: int
    texts: list[Text]
    complete: bool
    """Whether every blob could be read; one that could not is an empty text."""
    missed: bool = False
    """Whether a file took its parser too long, so that the result is worth storing at once."""


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


def text_without_parser(path: str, content: bytes | None) -> Text | None:
    """Outline one blob in time linear to its size; None where only a parser can do that."""
    if not content or not is_text(content):
        return Text(b"", PLAIN)
    outline = outline_without_parser(path, content)
    return None if outline is None else Text(content, outline)


def plain_text(path: str, content: bytes | None) -> Text:
    """Outline one blob as far as that needs no parser."""
    return text_without_parser(path, content) or Text(content or b"", PLAIN)
