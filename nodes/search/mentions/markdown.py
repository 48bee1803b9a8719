"""An issue's Markdown: its prose, its code, and the fields of its form, without the hints of a template."""

from __future__ import annotations

import re
from collections.abc import Iterator

MAX_FIELDS = 100
"""Fields of a form that are kept."""
MAX_TEXT = 200_000
"""Characters that are read; GitHub's longest body has 65,536."""
_MAX_LINE = 2000
_COMMENT_OPEN, _COMMENT_CLOSE = "<!--", "-->"
_FENCE = re.compile(r" {0,3}(?:> ?){0,4}(`{3,}|~{3,})")
_HEADING = re.compile(r"#{2,4}[ \t]{1,8}(\S.{0,300})$")
_NO_RESPONSE = ("_No response_", "*No response*", "No response")


def split_fields(text: str) -> tuple[str, str]:
    """The prose of a text and the content of its fenced code blocks; template hints are dropped."""
    prose, blocks = split_blocks(without_comments(text[:MAX_TEXT]))
    return prose, "\n".join(blocks)


def form_fields(text: str) -> tuple[tuple[str, str], ...]:
    """The (heading, content) pairs of a body that a GitHub issue form wrote; no response is an empty content."""
    fields: list[tuple[str, list[str]]] = []
    fence = ""
    for line in without_comments(text[:MAX_TEXT]).split("\n"):
        fence = _fence_after(line, fence)
        heading = None if fence else _HEADING.match(line.rstrip()[:_MAX_LINE])
        if heading:
            fields.append((heading[1].strip(" #"), []))
        elif fields:
            fields[-1][1].append(line)
    return tuple((name, _answer("\n".join(content))) for name, content in fields[:MAX_FIELDS])


def without_comments(text: str) -> str:
    """The text without its HTML comments, which are hints of an issue template; lines keep their numbers."""
    kept: list[str] = []
    at = 0
    while (start := text.find(_COMMENT_OPEN, at)) >= 0:
        stop = text.find(_COMMENT_CLOSE, start + len(_COMMENT_OPEN))
        if stop < 0:
            break
        stop += len(_COMMENT_CLOSE)
        kept += (text[at:start], "\n" * text.count("\n", start, stop))
        at = stop
    return "".join((*kept, text[at:])).replace("\r\n", "\n")


def split_blocks(text: str) -> tuple[str, list[str]]:
    """The prose, and each fenced block of code."""
    prose: list[str] = []
    blocks: list[list[str]] = []
    fence = ""
    for line in text.split("\n"):
        was, fence = fence, _fence_after(line, fence)
        if was and fence:
            blocks[-1].append(line)
        elif fence:
            blocks.append([])
        elif not was:
            prose.append(line)
    return "\n".join(prose), ["\n".join(block) for block in blocks]


def indented_blocks(prose: str) -> Iterator[str]:
    """The blocks of prose that are code by their indentation alone."""
    block: list[str] = []
    blank_above = True
    for line in (*prose.split("\n"), ""):
        if line.startswith(("    ", "\t")) and (block or blank_above):
            block.append(line[1:] if line[0] == "\t" else line[4:])
        elif line.strip() and block:
            yield "\n".join(block).rstrip()
            block = []
        elif block:
            block.append("")
        blank_above = not line.strip()
    if block:
        yield "\n".join(block).rstrip()


def lines(text: str) -> Iterator[str]:
    """The lines that are not empty, each cut to a length that is worth reading."""
    return (line[:_MAX_LINE] for line in text.split("\n") if line)


def _fence_after(line: str, fence: str) -> str:
    """The fence that is open once the line is read: empty outside any block."""
    mark = _FENCE.match(line[:_MAX_LINE])
    if not mark:
        return fence
    if not fence:
        # A line with the whole block on it opens nothing.
        return "" if mark[1] in line[mark.end() :] else mark[1]
    return "" if mark[1].startswith(fence) else fence


def _answer(content: str) -> str:
    content = content.strip()
    return "" if content in _NO_RESPONSE else content
