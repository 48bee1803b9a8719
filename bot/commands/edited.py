"""Decides which commands of an edited comment count: those whose words the comment did not contain before."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from bot.commands.parse import Command

_UNESCAPED = 3
"""How often character references are decoded; they may be nested."""
_UNSEEN = frozenset({"Cf", "Cn", "Co", "Cs", "Mn", "Me"})
"""Unicode categories of characters that a reader does not see, or sees as part of another character."""
_MARKS = re.compile(r"[*_~`\\]+")
_WORD = re.compile(r"/?[^\W_]+")
_NO_LETTER = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Edit:
    """An edit of a comment."""

    before: str | None
    """The comment's text before the edit, from the delivery; None if the payload lacks it."""
    by_author: bool
    """The editor is the comment's author."""


def new_commands(commands: Sequence[Command], edit: Edit) -> list[Command]:
    """The commands that the editor wrote; none if the text before the edit is unknown.

    A line that was in a comment, a quote or a code block before is not the editor's, whatever revealed it. In another
    person's edit, letters and digits are compared, so that revealing a hidden command cannot run it with the editor's
    permission. In the author's own edit, whole words are compared, so that a command runs after a typo is fixed.
    """
    if edit.before is None:
        return []
    was_there = _was_present if edit.by_author else _was_hidden
    before = _plain(edit.before)
    return [command for command in commands if not was_there(_plain(f"/triage {_typed(command)}"), before)]


def _typed(command: Command) -> str:
    """The text after ``/triage``. A bare ``/triage`` has the name ``triage`` and no text."""
    bare = command.name == "triage" and not command.argument
    return "" if bare else f"{command.name} {command.argument}"


def _was_present(line: str, before: str) -> bool:
    """Whether the line was there as whole words.

    A bare ``/triage`` must have been a whole line, as every other command begins with it.
    """
    line_words = _words(line)
    lines = [_words(one) for one in before.split("\n")]
    return line_words in lines if line_words == "/triage" else f" {line_words} " in f" {' '.join(lines)} "


def _was_hidden(line: str, before: str) -> bool:
    """Whether the line's letters and digits were there, ignoring all other characters between them."""
    return _NO_LETTER.sub("", line) in _NO_LETTER.sub("", before)


def _words(text: str) -> str:
    return " ".join(_WORD.findall(_MARKS.sub("", text)))


def _plain(text: str) -> str:
    """Text without invisible characters, in compatibility decomposition (NFKD) and case-folded."""
    for _ in range(_UNESCAPED):
        text = html.unescape(text)
    seen = (char for char in unicodedata.normalize("NFKD", text) if unicodedata.category(char) not in _UNSEEN)
    return "".join(seen).casefold()
