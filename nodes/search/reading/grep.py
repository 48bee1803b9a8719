"""Search the text of a commit for a regular expression in linear time, with counts."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import re2

from nodes.search.git.objects import TEXT_LIMIT, is_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from nodes.search.git import Repository

LONGEST = 300
"""Maximum characters of an expression."""
_MEMORY = 8 << 20
"""Bytes that an expression may take when it is compiled."""
MOST = 2_000
"""Matching lines that are counted; the search ends there."""
_BYTES, _SECONDS = 400_000_000, 20.0
"""Maximum text that one search reads, and the time after which it ends."""


@dataclass(frozen=True, slots=True)
class Expression:
    """A compiled expression."""

    compiled: Any
    """A pattern of RE2 for bytes."""
    literal: bool
    """Whether the text is searched as it is, because it is no valid expression."""


@dataclass(frozen=True, slots=True)
class Matches:
    """The lines that match, by file, in the order in which the files were given."""

    lines: Mapping[int, tuple[int, ...]]
    """By file number: 1-based line numbers."""
    complete: bool
    """Whether every file was searched."""

    @property
    def total(self) -> int:
        """The number of matching lines."""
        return sum(map(len, self.lines.values()))


def compile_expression(text: str, *, ignore_case: bool = False, longest: int | None = LONGEST) -> Expression:
    """Compile an expression of RE2's syntax; a text that is none is searched literally.

    Args:
        text: the expression of a reader, or of the program.
        ignore_case: whether upper and lower case are the same.
        longest: maximum characters; None if the program bounded the text before it made an expression of it.
    """
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MEMORY
    options.case_sensitive = not ignore_case
    pattern = text[:longest].encode("utf-8", "replace")
    try:
        # ``^`` and ``$`` are the ends of a line, as in every grep.
        return Expression(re2.compile(b"(?m)" + pattern, options), literal=False)
    except re2.error:
        return Expression(re2.compile(re2.escape(pattern), options), literal=True)


def grep(
    repository: Repository, files: Sequence[int], blobs: Sequence[str], expression: Expression, most: int = MOST
) -> Matches:
    """Return the matching lines of some files.

    Args:
        repository: has the blobs.
        files: numbers of files, the most important first.
        blobs: the object id of each file of the commit.
        expression: what to search for.
        most: matching lines after which the search ends.
    """
    found: dict[int, tuple[int, ...]] = {}
    until, size, left = time.monotonic() + _SECONDS, 0, most
    numbers: dict[str, list[int]] = {}
    for number in files:
        numbers.setdefault(blobs[number], []).append(number)
    for blob, content in repository.read(list(numbers)):
        size += len(content)
        if left <= 0 or size > _BYTES or time.monotonic() > until:
            return Matches(found, complete=False)
        if len(content) > TEXT_LIMIT or not is_text(content):
            continue
        lines = tuple(_lines(expression, content, left))
        for number in numbers[blob] if lines else ():
            found[number] = lines
            left -= len(lines)
    return Matches(found, complete=left > 0)


def _lines(expression: Expression, content: bytes, most: int) -> Iterator[int]:
    """Yield the numbers of the lines in which a match begins, each once."""
    line, counted, last = 1, 0, 0
    for match in expression.compiled.finditer(content):
        start = match.start()
        # A match of nothing after the last line feed is in no line.
        if start == len(content) and content.endswith(b"\n"):
            return
        line += content.count(b"\n", counted, start)
        counted = start
        if line != last:
            last = line
            yield line
            most -= 1
            if most <= 0:
                return
