"""Finds the mark-up around reported text: colours, HTML, quotation marks of a reply, boxes."""

import html
import re
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from nodes.search.issue.normal.evidence import is_frame, is_traced
from nodes.search.issue.normal.mapped import Edit, Mapped, Row, marked_runs, rows
from nodes.search.tokens import load_sections

_ODD = re.compile(
    "\r\n?|[\u200b\u2060\ufeff]|\u00a0|(?<!\\S)\\^I|(?<=\\S)#01[12]"
    r"|(?<=\w\.) (?=(?:java|kt|py|[jt]sx?|cs|go|rb|php|swift|dart|rs|cpp|c)(?::\s?\d|\"))"
    r"|(?<=\.java:) (?=\d)|(?<=\.kt:) (?=\d)"
)
"""Line ends of other systems, characters that look like nothing or like a space, a tab as ``cat -A`` writes it, both as
the log of the system does, and spaces that a program found in the picture of a place."""
_FORMS = load_sections(Path(__file__).with_name("markup.txt"))
_LINKED, _COLOUR, _TAG, _ENTITY, _QUOTE, _WRAPPED = (
    re.compile("".join(_FORMS[name])) for name in ("linked", "colour", "tag", "entity", "quote", "wrapped")
)
_BREAKS = ("<br", "<pre", "</pre", "<p>", "</p", "<div", "</div")
_SIDES, _CORNERS, _RULES = "│┃║|", "╭┌┏╔╮┐┓╗╰└┗╚╯┘┛╝├┣╠┤┫╣+", "─━═-"
_ASCII = "|+"


def plain_characters(text: str) -> list[Edit]:
    """Replace line ends of other systems and invisible characters."""
    kinds = {"\r\n": "\n", "\r": "\n", "\u00a0": " ", "^I": "\t", "#012": "\n", "#011": "\t"}
    odd = [Edit(found.start(), found.end(), kinds.get(found[0], "")) for found in _ODD.finditer(text)]
    linked = [Edit(found.start(), found.end(), found[1]) for found in _LINKED.finditer(text)]
    return sorted((*odd, *linked), key=lambda edit: edit.start)


def colours(text: str) -> list[Edit]:
    """Remove the colours and links of a terminal."""
    return [Edit(found.start(), found.end()) for found in _COLOUR.finditer(text)]


def markup(text: str) -> list[Edit]:
    """Remove the tags around pasted output, and decode entities, on lines that are part of a trace without them."""
    if "&" not in text and "<" not in text:
        return []
    edits: list[Edit] = []
    for run in marked_runs(text, _marks):
        # HTML that is pasted as source code stays.
        if any(is_traced(line) for row, marks in run for line in Mapped(row.text).edited(marks).text.split("\n")):
            edits += (Edit(row.start + at.start, row.start + at.end, at.text) for row, marks in run for at in marks)
    return edits


def _marks(row: Row) -> list[Edit]:
    found = [*_TAG.finditer(row.text), *_ENTITY.finditer(row.text)]
    return [Edit(item.start(), item.end(), _plain(item)) for item in sorted(found, key=lambda item: item.start())]


def _plain(mark: re.Match[str]) -> str:
    if mark[0][0] == "&":
        return html.unescape(mark[0]).replace("\u00a0", " ")
    # The end of a line is already one.
    return "\n" if mark[0].startswith(_BREAKS) and mark.end() < len(mark.string) else ""


def quotes(text: str) -> list[Edit]:
    """Remove one level of ``>`` before the lines of a quotation."""
    lines = list(rows(text)) if ">" in text else []
    marks = [_QUOTE.match(row.text) for row in lines]
    is_blank = [True, *(not row.text.strip() for row in lines), True]
    edits: list[Edit] = []
    for is_quote, run in groupby(range(len(lines)), key=lambda at: marks[at] is not None):
        quoted = list(run)
        # One such line between others is a prompt, or marks the line of a test that failed.
        if is_quote and (len(quoted) > 1 or (is_blank[quoted[0]] and is_blank[quoted[0] + 2])):
            edits += (Edit(lines[at].start, lines[at].start + mark.end()) for at in quoted if (mark := marks[at]))
    return edits


def wrappers(text: str) -> list[Edit]:
    """Remove the marks around each line of a trace."""
    edits: list[Edit] = []
    for run in marked_runs(text, lambda row: _WRAPPED.match(row.text)):
        inside = [(row, *mark.span(mark.lastindex or 0)) for row, mark in run if mark]
        if len(inside) > 1 and any(is_frame(row.text[start:end]) for row, start, end in inside):
            for row, start, end in inside:
                edits += (Edit(row.start, row.start + start), Edit(row.start + end, row.end))
    return edits


def boxes(text: str) -> list[Edit]:
    """Remove the box that a terminal draws around lines."""
    drawn = ([sides for _, sides in run if sides] for run in marked_runs(text, _sides))
    return [edit for inside in drawn if _is_box(text, inside) for sides in inside for edit in sides]


def _sides(row: Row) -> tuple[Edit, Edit] | None:
    """Return the edits that remove both sides of a line of a box, or what is around the title in its lid."""
    bare = row.text.strip()
    if len(bare) < 2:
        return None
    if bare[0] in _CORNERS and bare[-1] in _CORNERS and bare[1] in _RULES and bare[-2] in _RULES:
        left, content = row.text.index(bare[0]), bare.strip(_CORNERS + _RULES)
        start = row.text.index(content, left) if content else len(row.text)
        stop = start + len(content)
    elif bare[0] in _SIDES and bare[-1] in _SIDES:
        start = row.text.index(bare[0]) + 1
        stop = max(start, len(row.text[: row.text.rindex(bare[-1])].rstrip()))
    else:
        return None
    return Edit(row.start, row.start + start), Edit(row.start + stop, row.end)


def _is_box(text: str, inside: Sequence[tuple[Edit, Edit]]) -> bool:
    """Return whether lines are a box, not a table of Markdown; a box with ASCII sides must contain a trace."""
    marks = {text[left.start : left.end].strip()[:1] for left, _ in inside}
    if marks & set(_CORNERS) and marks & set(_SIDES) and not marks <= set(_ASCII):
        return True
    # The cells of a table have further bars.
    contents = [text[left.end : right.start] for left, right in inside]
    return len(inside) > 1 and any(map(is_traced, contents)) and not all(" | " in content for content in contents)
