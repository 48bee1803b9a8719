"""Normalise pasted text: cleaned lines in order, each with its offset in the text."""

from __future__ import annotations

import re
from dataclasses import dataclass

MAX_LINE = 2000
"""Characters of a line that are read; a frame does not extend beyond them."""
MAX_LINES = 20_000
"""Non-blank lines that are read; GitHub's longest body has 65,536 characters."""

_ANSI = re.compile(r"\x1b\[[0-9;:?]{0,40}[A-Za-z]")
_QUOTE = re.compile(r"[ ]{0,3}(?:> ?){1,8}")
_CONTAINER = re.compile(r"[\w.-]{1,60} {1,20}\| ")
_TIME = re.compile(
    r"\s{0,8}\[?(?:(?:\d{4}[-/])?\d\d[-/]\d\d[T ])?\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z| ?[+-]\d\d:?\d\d)?\]?(?=[\s:|-])"
)
_TAG = re.compile(
    r"[ ]{0,8}(?:[VDIWEF]/[\w.:-]{1,60} ?\( {0,6}\d{1,7}\)|\[[^\]\[]{1,60}\]"
    r"|(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL|SEVERE|stderr|stdout|err|out"
    r"|[EWF])\b"
    r"|\d{1,7}(?= (?:\d|---|\[|[A-Z]{4}))|---|[-:|](?= ))[:|]?"
)
_LEVEL = re.compile(r"\[(?:error|warn|info|debug|ERROR|WARN|WARNING|INFO|DEBUG)\] ")
_MAX_TAGS = 6


@dataclass(frozen=True, slots=True)
class Line:
    """A non-blank line without colours, quote marks and log prefixes."""

    text: str
    """Includes the indentation."""
    bare: str
    """Stripped at both ends."""
    start: int
    """Offset in the original text."""
    end: int

    @property
    def indent(self) -> int:
        """The number of columns of indentation."""
        return len(self.text) - len(self.text.lstrip())


def split_lines(text: str) -> list[Line]:
    """Return the cleaned non-blank lines, in order."""
    lines: list[Line] = []
    start = 0
    while start < len(text) and len(lines) < MAX_LINES:
        newline = text.find("\n", start)
        end = len(text) if newline < 0 else newline
        clean = _clean(text[start : min(end, start + MAX_LINE)])
        if bare := clean.strip():
            lines.append(Line(text=clean, bare=bare, start=start, end=end))
        start = end + 1
    return lines


def _clean(raw: str) -> str:
    line = raw.expandtabs(4)[:MAX_LINE] if "\t" in raw else raw
    if "\x1b" in line:
        line = _ANSI.sub("", line)
    if ">" in line and (quote := _QUOTE.match(line)):
        line = line[quote.end() :]
    if " | " in line and (container := _CONTAINER.match(line)):
        line = line[container.end() :]
    return _without_log_prefix(line)


def _without_log_prefix(line: str) -> str:
    stamp = _TIME.match(line)
    if not stamp:
        level = _LEVEL.match(line) if line.startswith("[") else None
        return line[level.end() :] if level else line
    rest = line[stamp.end() :]
    for _ in range(_MAX_TAGS):
        tag = _TAG.match(rest)
        if not tag:
            break
        rest = rest[tag.end() :]
    return rest.removeprefix(" ")
