"""Recognises the lines of a stack trace in any language, and the fences of code blocks."""

import re
from collections.abc import Iterator
from pathlib import Path

from nodes.search.tokens import load_sections

MAX_LINE = 2_000
"""Characters of a line that are read."""
FORMS = load_sections(Path(__file__).with_name("frames.txt"))
"""Patterns of frames in traces of any language, by what they are for."""
_FRAME = re.compile("|".join(FORMS["frame"]))
_HEAD = re.compile("|".join(FORMS["head"]))
_FENCE = re.compile(r"[ \t]{0,12}(?:> ?){0,4}(`{3,40}|~{3,40}(?![~ ]{0,400}\^))")
"""The line that opens or closes a code block; interpreters mark the failing part of a line with ``~~~^^^``."""


def is_frame(line: str) -> bool:
    """Return whether a line begins like a frame."""
    return _FRAME.match(line[:MAX_LINE].strip()) is not None


def is_traced(line: str) -> bool:
    """Return whether a line begins like a frame, or like a heading of a trace."""
    bare = line[:MAX_LINE].strip()
    return _FRAME.match(bare) is not None or _HEAD.match(bare) is not None


def is_fence(line: str) -> bool:
    """Return whether a line opens or closes a code block."""
    return ("```" in line or "~~~" in line) and _FENCE.match(line[:MAX_LINE]) is not None


def fence_after(line: str, fence: str) -> str:
    """Return the fence that is open after a line, given the one before it; empty outside any block."""
    mark = _FENCE.match(line[:MAX_LINE])
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
