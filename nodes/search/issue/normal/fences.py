"""Recognises the fences of code blocks: the only Markdown that readers of traces know."""

from __future__ import annotations

import re
from collections.abc import Iterator

_LONGEST = 2_000
_FENCE = re.compile(r"[ \t]{0,12}(?:> ?){0,4}(`{3,40}|~{3,40}(?![~ ]{0,400}\^))")
"""The line that opens or closes a code block; interpreters mark the failing part of a line with ``~~~^^^``."""


def is_fence(line: str) -> bool:
    """Return whether a line opens or closes a code block."""
    return ("```" in line or "~~~" in line) and _FENCE.match(line[:_LONGEST]) is not None


def fence_after(line: str, fence: str) -> str:
    """Return the fence that is open after a line, given the one before it; empty outside any block."""
    mark = _FENCE.match(line[:_LONGEST])
    if not mark:
        return fence
    if not fence:
        # A line that contains the whole block opens nothing.
        return "" if mark[1] in line[mark.end() :] else mark[1]
    # As in CommonMark: a fence is closed by one of the same character and at least its length.
    return "" if mark[1].startswith(fence) else fence


def outside_fences(text: str) -> Iterator[str]:
    """Yield each line of a text, with an empty one instead of each line of a code block."""
    fence = ""
    for line in text.split("\n"):
        was, fence = fence, fence_after(line, fence)
        yield "" if was or fence or is_fence(line) else line
