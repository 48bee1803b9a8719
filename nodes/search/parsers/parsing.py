"""Converts blobs to texts with their outlines, as far as no parser is needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from nodes.search.git.objects import MAX_AT_ONCE, is_text
from nodes.search.languages import always_needs_parser, outline_without_parser
from nodes.search.types import Outline

if TYPE_CHECKING:
    from collections.abc import Sequence

BATCH_BYTES = 250_000
"""Bytes of text per batch: enough for array operations to pay off, few enough for a short wait at the end."""
PLAIN = Outline("text")
"""The outline of a file that is only searched by its words."""


@dataclass(frozen=True, slots=True)
class Job:
    """One blob to parse, as the language that its path indicates."""

    key: str
    path: str
    blob: str
    size: int


class Text(NamedTuple):
    """The content and the outline of one blob."""

    content: bytes
    """Empty if the blob is not text."""
    outline: Outline


@dataclass(frozen=True, slots=True)
class Parsed:
    """The result of one batch: a text for each of its jobs, in their order."""

    number: int
    texts: list[Text]
    """Empty if ``columns`` is given."""
    complete: bool
    """Whether every blob could be read; an unreadable one is an empty text."""
    missed: bool = False
    """Whether a file exceeded its parser's deadline; such a result is worth storing at once."""
    columns: bytes = b""
    """Packed columns, if a helper counted the words too."""


def cut_batches(jobs: Sequence[Job]) -> list[list[Job]]:
    """Cut jobs into batches, in their order."""
    batches: list[list[Job]] = []
    room = -1
    for job in jobs:
        if room < job.size or len(batches[-1]) >= MAX_AT_ONCE:
            batches.append([])
            # A file larger than a batch gets a batch of its own.
            room = max(BATCH_BYTES, job.size)
        batches[-1].append(job)
        room -= job.size
    return batches


def needs_parser(batch: Sequence[Job]) -> bool:
    """Return whether any file of a batch needs a parser, by its name."""
    return any(always_needs_parser(job.path) for job in batch)


def text_without_parser(path: str, content: bytes | None) -> Text | None:
    """Outline one blob in time linear in its size; None if only a parser can do that."""
    if not content or not is_text(content):
        return Text(b"", PLAIN)
    outline = outline_without_parser(path, content)
    return None if outline is None else Text(content, outline)


def plain_text(path: str, content: bytes | None) -> Text:
    """Outline one blob as far as no parser is needed."""
    return text_without_parser(path, content) or Text(content or b"", PLAIN)
