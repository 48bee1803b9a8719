"""Recognises lines that stand in a stack trace of any language, and the fences of code blocks."""

import re
from collections.abc import Iterator

LONGEST = 2_000
"""Characters of a line that are read."""
# Anchored, so that a prefix in front of a frame hides it; removing that prefix is then worth it.
_FRAME = re.compile(
    "|".join(
        (
            r"File [\"“'][^\"“”'\n]{1,500}[\"”'], line \d",
            r"File \S{1,500}:\d{1,7}(?:, in |$)",
            r"Cell In ?\[\d",
            r"at [\w$<>.\[\]/@\\-]{1,300}(?: \[as \w{1,80}\])? ?\(",
            r"(?:at|bei) \S{1,300}.{0,300}(?::\d|:\w{1,10} \d)",
            r"#\d{1,4}:? {1,4}(?:0x[0-9a-fA-F]{1,16}|\S{1,300}\(\d{1,7}\):|\{main\}|[\w:~<>]{1,300} \()",
            r"#\d{1,4} {1,8}[^()\n]{1,200}(?:\([^()\n]{0,80}\)[^()\n]{0,80})? \((?:package|dart|file|https?):",
            r"[\w$.</*>\[\]-]{0,200}@(?:[a-z][\w+.-]{1,30}:|/)\S{1,500}:\d{1,9}:\d{1,9}$",
            r"\d{1,4}: {1,8}(?:0x[0-9a-f]{1,16} - )?[\w<&{]\S{0,300}::\S",
            r"(?:\d{1,4}: |# )?(?:from )?\S{1,300}:\d{1,7}:in ",
            r"(?:[A-Za-z]:)?[^\s:()\[\]\"'=,]{1,300}\.[A-Za-z]\w{0,7}:\d{1,7}(?::\d{1,7})?(?::|\)|$| in | \+0x| \()",
            r"\(\w[\w.]{0,60} [\w.-]{1,30}\) \S{1,300}:\d",
            r"==\d{1,10}== {1,8}(?:at|by) 0x",
            r"(?:\* )?frame #\d",
            r"goroutine \d{1,12} \[",
            r"PHP {1,6}\d{1,4}\. ",
            r"thread '[^'\n]{0,200}'.{0,40} panicked at \S{1,300}:\d",
            r"[❯❱] ",  # noqa: RUF001
        )
    )
)
_HEAD = re.compile(
    "|".join(
        (
            r"(?:\+ )?(?:Exception Group )?Traceback \(most recent call ",
            r"(?:Exception in thread|Caused by:|Suppressed:|FATAL EXCEPTION:|panic:|fatal error:|Fatal Python error:)",
            r"thread '[^'\n]{0,200}'.{0,40} panicked at",
            r"(?:stack traceback|[Ss]tack ?trace|stack backtrace|\[stacktrace\]):?$",
            r"(?:PHP )?(?:Fatal|Parse|Catchable fatal|Recoverable fatal) error: ",
            r"(?:Uncaught|Unhandled)\b",
            r"\*\* \(\w",
            r"(?:Program|Thread .{1,80}) (?:received|terminated)",
            r"(?:[A-Za-z_$][\w$]{0,80}[.:\\]{1,2}){0,12}[A-Z]\w{0,80}"
            r"(?:Error|Exception|Throwable|Failure|Interrupt|Exit)(?:: |:?$)",
        )
    )
)
_FENCE = re.compile(r"[ \t]{0,12}(?:> ?){0,4}(`{3,40}|~{3,40}(?![~ ]{0,400}\^))")
"""The line that opens or closes a code block; interpreters mark the failing part of a line with ``~~~^^^``."""


def is_frame(line: str) -> bool:
    """Return whether a line begins like a frame."""
    return _FRAME.match(line[:LONGEST].strip()) is not None


def is_traced(line: str) -> bool:
    """Return whether a line begins like a frame, or like a heading of a trace."""
    bare = line[:LONGEST].strip()
    return _FRAME.match(bare) is not None or _HEAD.match(bare) is not None


def is_fence(line: str) -> bool:
    """Return whether a line opens or closes a code block."""
    return ("```" in line or "~~~" in line) and _FENCE.match(line[:LONGEST]) is not None


def fence_after(line: str, fence: str) -> str:
    """Return the fence that is open after a line, given the one before it; empty outside any block."""
    mark = _FENCE.match(line[:LONGEST])
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
