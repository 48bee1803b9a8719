"""A text after edits, with the range of the original text that each of its characters comes from."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple, TypeVar

T = TypeVar("T")


class Edit(NamedTuple):
    """Replace the characters from ``start`` to before ``end`` by a text."""

    start: int
    end: int
    text: str = ""


@dataclass(frozen=True, slots=True)
class Mapped:
    """A text and where it comes from; without positions it is the original text itself."""

    text: str
    starts: array[int] | None = field(default=None, repr=False)
    """For each character, the offset in the original text at which the part that it represents begins."""
    stops: array[int] | None = field(default=None, repr=False)
    """For each character, the offset in the original text after the part that it represents."""

    def edited(self, edits: Iterable[Edit]) -> Mapped:
        """Return the text after edits, which must be in order and must not overlap."""
        parts: list[str] = []
        starts, stops, at = array("l"), array("l"), 0
        old_starts = self.starts if self.starts is not None else array("l", range(len(self.text)))
        old_stops = self.stops if self.stops is not None else array("l", range(1, len(self.text) + 1))
        for edit in edits:
            parts += (self.text[at : edit.start], edit.text)
            first, last = self.span(edit.start, edit.end)
            starts += old_starts[at : edit.start] + array("l", [first]) * len(edit.text)
            stops += old_stops[at : edit.start] + array("l", [last]) * len(edit.text)
            at = edit.end
        parts.append(self.text[at:])
        return Mapped("".join(parts), starts + old_starts[at:], stops + old_stops[at:])

    def reordered(self, ranges: Iterable[tuple[int, int]]) -> Mapped:
        """Return the text with its ranges in another order; together they are the whole text."""
        parts, starts, stops = list[str](), array("l"), array("l")
        for start, end in ranges:
            parts.append(self.text[start:end])
            starts += self.starts[start:end] if self.starts is not None else array("l", range(start, end))
            stops += self.stops[start:end] if self.stops is not None else array("l", range(start + 1, end + 1))
        return Mapped("".join(parts), starts, stops)

    def position(self, offset: int) -> int:
        """Return the first character of this text that comes from an offset of the original text, or from after it."""
        if self.starts is None or self.stops is None:
            return offset
        at = bisect_right(self.stops, offset)
        if at < len(self.stops) and self.starts[at] <= offset < self.stops[at]:
            return at
        # Its character is gone, or the lines have another order.
        ranges = enumerate(zip(self.starts, self.stops, strict=True))
        return next((here for here, (start, stop) in ranges if start <= offset < stop), at)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the range of the original text that a range of this text comes from."""
        if self.starts is None or self.stops is None:
            return start, end
        if start < end:
            return self.starts[start], self.stops[end - 1]
        here = self.starts[start] if start < len(self.text) else self.stops[-1] if self.stops else 0
        # Between two characters that one edit wrote: both represent the same range, and so does what is between them.
        return here, max(here, self.stops[start - 1]) if start else here


class Row(NamedTuple):
    """A line of a text with its offsets."""

    text: str
    start: int
    end: int


def rows(text: str) -> Iterator[Row]:
    """Yield every line of a text, without its line feed."""
    start = 0
    for line in text.split("\n"):
        yield Row(line, start, start + len(line))
        start += len(line) + 1


def marked_runs(text: str, mark: Callable[[Row], T]) -> Iterator[list[tuple[Row, T]]]:
    """Yield each run of consecutive lines that have a mark, every line with its mark."""
    marked = ((row, mark(row)) for row in rows(text))
    yield from (list(run) for has_mark, run in groupby(marked, key=lambda pair: bool(pair[1])) if has_mark)
