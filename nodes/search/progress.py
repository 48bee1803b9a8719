"""Tracks which files of which batches are parsed, and which batches are finished."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from nodes.search.languages import language_of
from nodes.search.parsing import PLAIN, Parsed, Text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nodes.search.parsing import Job

_MISSING = Text(b"", PLAIN)


class Progress:
    """Assembles the texts of files into batches, in any order of arrival."""

    def __init__(self, batches: Sequence[Sequence[Job]]) -> None:
        """Start with no file done."""
        self.batches = batches
        self.unparsed = 0
        """Number of files of a known language that stay plain text, because their parser took too long."""
        self._texts: list[dict[int, Text]] = [{} for _ in batches]
        self._finished: deque[Parsed] = deque()
        self._done: set[int] = set()
        self._incomplete: set[int] = set()
        self._missed: set[int] = set()

    def put(self, batch: int, file: int, text: Text | None) -> None:
        """Add the text of a file; None if its blob is missing."""
        if self.has(batch, file):
            return
        if text is None:
            self._incomplete.add(batch)
        elif _is_unparsed(self.batches[batch][file], text):
            self.unparsed += 1
            self._missed.add(batch)
        self._texts[batch][file] = text or _MISSING
        if len(self._texts[batch]) == len(self.batches[batch]):
            self._finish(batch)

    def has(self, batch: int, file: int) -> bool:
        """Return whether a file is done."""
        return batch in self._done or file in self._texts[batch]

    def left_of(self, batch: int) -> list[int]:
        """Return the files of a batch that are not done."""
        return [file for file in range(len(self.batches[batch])) if not self.has(batch, file)]

    def left(self) -> Iterator[tuple[int, list[int]]]:
        """Yield every unfinished batch with its files that are not done."""
        yield from ((batch, self.left_of(batch)) for batch in range(len(self.batches)) if batch not in self._done)

    def spoil(self, batch: int) -> None:
        """Mark a batch as incomplete, so that it is not stored: another run may give a better result."""
        self._incomplete.add(batch)

    def finished(self) -> Iterator[Parsed]:
        """Yield the batches finished since the last call."""
        while self._finished:
            yield self._finished.popleft()

    def _finish(self, batch: int) -> None:
        texts = [self._texts[batch][file] for file in range(len(self.batches[batch]))]
        self._texts[batch] = {}
        self._done.add(batch)
        self._finished.append(Parsed(batch, texts, batch not in self._incomplete, batch in self._missed))


def _is_unparsed(job: Job, text: Text) -> bool:
    if text.outline.language != PLAIN.language or not text.content or language_of(job.path) is None:
        return False
    return b"\0" not in text.content  # a NUL means that the file is not of that language
