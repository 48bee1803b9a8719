"""Search the text of a commit for a regular expression in linear time, with counts."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import re2

from nodes.search.git import Repository
from nodes.search.git.objects import TEXT_LIMIT, is_text

LONGEST = 300
"""Maximum characters of an expression."""
_MEMORY = 8 << 20
"""Bytes that an expression may take when it is compiled."""
MOST = 2_000
"""Matching lines that are counted; the search ends there."""
_BYTES, _SECONDS = 400_000_000, 20.0
"""Maximum text that one search reads, and the time after which it ends."""


def compile_expression(text: str, *, ignore_case: bool = False, longest: int | None = LONGEST) -> tuple[Any, bool]:
    """Compile an expression of RE2's syntax, of which at most ``longest`` characters are read.

    Returns:
        A pattern for bytes; whether the text is searched as it is, because it is no valid expression.
    """
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MEMORY
    options.case_sensitive = not ignore_case
    pattern = text[:longest].encode("utf-8", "replace")
    try:
        # ``^`` and ``$`` are the ends of a line, as in every grep.
        return re2.compile(b"(?m)" + pattern, options), False
    except re2.error:
        return re2.compile(re2.escape(pattern), options), True


def grep(
    repository: Repository, files: Sequence[int], blobs: Sequence[str], pattern: Any
) -> tuple[dict[int, tuple[int, ...]], bool]:
    """Search some files, given by their numbers, for a pattern; ``blobs`` has the object id of each file of the commit.

    Returns:
        The 1-based numbers of the matching lines by file, in the order of the files; whether every file was searched.
    """
    found: dict[int, tuple[int, ...]] = {}
    until, size, left = time.monotonic() + _SECONDS, 0, MOST
    numbers: dict[str, list[int]] = {}
    for number in files:
        numbers.setdefault(blobs[number], []).append(number)
    for blob, content in repository.read(list(numbers)):
        size += len(content)
        if left <= 0 or size > _BYTES or time.monotonic() > until:
            return found, False
        if len(content) > TEXT_LIMIT or not is_text(content):
            continue
        lines = tuple(islice(_lines(pattern, content), left))
        for number in numbers[blob] if lines else ():
            found[number] = lines
            left -= len(lines)
    return found, left > 0


def _lines(pattern: Any, content: bytes) -> Iterator[int]:
    """Yield the numbers of the lines in which a match begins, each once."""
    line, counted, last = 1, 0, 0
    for match in pattern.finditer(content):
        start = match.start()
        # A match of nothing after the last line feed is in no line.
        if start == len(content) and content.endswith(b"\n"):
            return
        line += content.count(b"\n", counted, start)
        counted = start
        if line != last:
            last = line
            yield line
