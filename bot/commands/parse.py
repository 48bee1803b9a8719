"""Text in, commands out: only on a line of their own, never in code, quotes or HTML comments."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from markdown_it import MarkdownIt

MOST = 10
"""Commands that are taken from one comment."""
MAX_TEXT = 65_536
MAX_ARGUMENT = 600
_COMMAND = re.compile(r" {0,3}/triage(?:[ \t]{1,20}(\S{1,60})(?:[ \t](.*))?)?[ \t]*", re.IGNORECASE)
_HEAD = len("   /triage")
_BREAK = re.compile(r"\r\n?")
_HIDING = re.compile(r"`+|<!--|<code\b", re.IGNORECASE)
_ENDS = {"<!--": "-->", "<code": "</code"}
# Blocks alone are told apart: what is within a paragraph is looked at below, in linear time whatever it holds.
_BLOCKS = MarkdownIt("commonmark").disable(["inline", "reference"])


@dataclass(frozen=True, slots=True)
class Command:
    """One command as it was written."""

    name: str
    """``triage`` where nothing follows; else whatever word does, known or not."""
    argument: str = ""
    ordinal: int = 0
    """Which of the comment's commands it is, from 0."""

    @property
    def canonical(self) -> str:
        """The same for the same command, however it is spaced."""
        return f"{self.name} {' '.join(self.argument.split())}".rstrip()


def parse(text: str) -> list[Command]:
    """The commands of a comment, in their order."""
    found: list[Command] = []
    for line in _own_lines(_BREAK.sub("\n", text[:MAX_TEXT])):
        match = _COMMAND.fullmatch(line)
        if match and len(found) < MOST:
            name, argument = (match[1] or "triage").lower(), (match[2] or "").strip()
            found.append(Command(name, argument[:MAX_ARGUMENT], len(found)))
    return found


def _own_lines(text: str) -> Iterator[str]:
    """The lines of the comment's own paragraphs, as they were typed."""
    if "/triage" not in text.lower():
        return
    lines, quotes = text.split("\n"), 0
    for token in _BLOCKS.parse(text):
        quotes += token.nesting if token.type.startswith("blockquote") else 0
        if token.type == "inline" and not quotes and token.map is not None:
            typed = lines[token.map[0] : token.map[1]]
            shown = _without_hidden("\n".join(typed)).split("\n")
            # What follows the command's name may well be code; the command itself must not be.
            yield from (line for line, seen in zip(typed, shown, strict=True) if line[:_HEAD] == seen[:_HEAD])


def _without_hidden(text: str) -> str:
    """A paragraph with code spans and HTML comments blanked out, line by line; what begins first hides the rest."""
    runs = _tick_runs(text)
    at = 0
    kept: list[str] = []
    lowered = text.lower()
    for match in _HIDING.finditer(text):
        if match.start() < at:
            continue
        opening = match[0].lower()
        if opening in _ENDS:
            end = lowered.find(_ENDS[opening], match.end())
            end = len(text) if end < 0 else end + len(_ENDS[opening])
        else:
            alike = runs[len(opening)]
            following = bisect_right(alike, match.start())
            if following == len(alike):
                continue
            end = alike[following] + len(opening)
        kept += (text[at : match.start()], "\x00", "\n\x00" * text.count("\n", match.start(), end))
        at = end
    return "".join((*kept, text[at:]))


def _tick_runs(text: str) -> dict[int, list[int]]:
    """Where runs of backticks begin, by their length: a run closes only with one as long."""
    runs: dict[int, list[int]] = defaultdict(list)
    for match in re.finditer(r"`+", text):
        runs[len(match[0])].append(match.start())
    return runs
