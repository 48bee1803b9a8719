"""Splits an issue's Markdown into prose, code and form fields, without template hints."""

import re
from collections.abc import Iterator
from pathlib import Path

from nodes.search.issue.normal.evidence import fence_after
from nodes.search.tokens import load_sections

MAX_FIELDS = 100
"""Maximum number of form fields."""
MAX_TEXT = 200_000
"""Maximum characters that are read; GitHub's longest body has 65,536."""
# Characters of a line that patterns see; a minified line of a megabyte names nothing that a reader could find.
_MAX_LINE = 2000
_COMMENT_OPEN, _COMMENT_CLOSE = "<!--", "-->"
_HEADING = re.compile(r"#{2,4}[ \t]{1,8}(\S.{0,300})$")
_OF_FORMS = "###"
_NO_RESPONSE = ("_No response_", "*No response*", "No response")

_DEFAULT_LINE = re.compile("|".join(load_sections(Path(__file__).with_name("words.txt"))["template"]), re.IGNORECASE)
"""Lines of the templates that GitHub offers, as they are before a reporter edits them."""
_EXAMPLE = re.compile(r"\[\s{0,9}e\.?\s?g\.?[^\[\]\n]{0,200}\]", re.IGNORECASE)
"""The example of an answer, which templates in any language put in square brackets: `OS: [e.g. CentOS 8.4]`."""


def split_fields(text: str) -> tuple[str, str]:
    """Return the prose of a text and the content of its fenced code blocks, without template hints."""
    prose, blocks = split_blocks(without_comments(text[:MAX_TEXT]))
    return prose, "\n".join(blocks)


def without_template(text: str) -> str:
    """Return the text without unedited lines of GitHub's own issue templates and examples; line numbers stay."""
    edited = ("" if _DEFAULT_LINE.fullmatch(line.strip()[:_MAX_LINE]) else line for line in text.split("\n"))
    return "\n".join(_EXAMPLE.sub("", line) if "[" in line else line for line in edited)


def form_fields(text: str) -> tuple[tuple[str, str], ...]:
    """Return the (heading, content) pairs of a GitHub issue form's body; "No response" becomes an empty content.

    If the first heading has the level that GitHub writes, headings of other levels belong to the answers.
    """
    fields: list[tuple[str, list[str]]] = []
    level = fence = ""
    for line in without_comments(text[:MAX_TEXT]).split("\n"):
        # A ``#`` line in a code block is a comment, not a heading.
        fence = fence_after(line, fence)
        heading = None if fence else _HEADING.match(line.rstrip()[:_MAX_LINE])
        level = level or (heading[0].partition(heading[1])[0].strip() if heading else "")
        if heading and (level != _OF_FORMS or line.startswith(f"{_OF_FORMS} ")):
            fields.append((heading[1].strip(" #"), []))
        elif fields:
            fields[-1][1].append(line)
    answers = ((name, "\n".join(content).strip()) for name, content in fields[:MAX_FIELDS])
    return tuple((name, "" if answer in _NO_RESPONSE else answer) for name, answer in answers)


def without_comments(text: str) -> str:
    """Return the text without HTML comments, which are template hints; line numbers stay the same."""
    parts: list[str] = []
    position = 0
    while (start := text.find(_COMMENT_OPEN, position)) >= 0:
        stop = text.find(_COMMENT_CLOSE, start + len(_COMMENT_OPEN))
        if stop < 0:
            break
        stop += len(_COMMENT_CLOSE)
        # Line feeds stay, so that line numbers in the rest are unchanged.
        parts += (text[position:start], "\n" * text.count("\n", start, stop))
        position = stop
    return "".join((*parts, text[position:])).replace("\r\n", "\n")


def split_blocks(text: str) -> tuple[str, list[str]]:
    """Return the prose, and each fenced code block."""
    prose, blocks, fence = list[str](), list[list[str]](), ""
    for line in text.split("\n"):
        was, fence = fence, fence_after(line, fence)
        if was and fence:
            blocks[-1].append(line)
        elif fence:
            blocks.append([])
        elif not was:
            prose.append(line)
    return "\n".join(prose), ["\n".join(block) for block in blocks]


def indented_blocks(prose: str) -> Iterator[str]:
    """Yield the blocks of prose that are code by their indentation only."""
    block: list[str] = []
    blank_above = True
    for line in (*prose.split("\n"), "end"):
        if line.startswith(("    ", "\t")) and (block or blank_above):
            block.append(line[1:] if line[0] == "\t" else line[4:])
        elif line.strip() and block:
            yield "\n".join(block).rstrip()
            block = []
        elif block:
            block.append("")
        blank_above = not line.strip()


def lines(text: str) -> Iterator[str]:
    """Yield the lines that are not empty, each cut to the maximum length."""
    return (line[:_MAX_LINE] for line in text.split("\n") if line)
