"""Which commands of an edited comment count: those whose words were not in it before, in any form."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from bot.commands.parse import Command

_UNESCAPED = 3
"""Times that character references are decoded; they may be nested."""
_UNSEEN = frozenset({"Cf", "Cn", "Co", "Cs", "Mn", "Me"})
"""Unicode categories of what a reader does not see, or sees as part of another character."""
_MARKS = re.compile(r"[*_~`\\]+")
_WORD = re.compile(r"/?[^\W_]+")
_NO_LETTER = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Edit:
    """What an edit changed, and by whom."""

    before: str | None
    """The comment's text until then, as the delivery says; None where it does not."""
    by_author: bool
    """The person who edited the comment wrote it."""


def new_commands(commands: Sequence[Command], edit: Edit) -> list[Command]:
    """The commands that the sender of an edit wrote.

    A line that stood in a comment, a quote or a code block is not the editor's, however it got out of there. Authors
    have no more to hide from themselves than others know, so their own text is compared word by word; what others
    edit is compared letter by letter.
    """
    if edit.before is None:
        return []
    was_there = _said_before if edit.by_author else _hidden_before
    before = _plain(edit.before)
    return [command for command in commands if not was_there(_plain(f"/triage {_typed(command)}"), before)]


def _typed(command: Command) -> str:
    """What follows the command's name; a bare ``/triage`` is called ``triage`` too."""
    bare = command.name == "triage" and not command.argument
    return "" if bare else f"{command.name} {command.argument}"


def _said_before(line: str, before: str) -> bool:
    """As whole words; a bare ``/triage`` as a whole line, since every other command begins with it."""
    said = _words(line)
    lines = [_words(one) for one in before.split("\n")]
    return said in lines if said == "/triage" else f" {said} " in f" {' '.join(lines)} "


def _hidden_before(line: str, before: str) -> bool:
    """As letters and digits, whatever stood between them."""
    return _NO_LETTER.sub("", line) in _NO_LETTER.sub("", before)


def _words(text: str) -> str:
    return " ".join(_WORD.findall(_MARKS.sub("", text)))


def _plain(text: str) -> str:
    """Text without what cannot be seen, its characters in their plainest form."""
    for _ in range(_UNESCAPED):
        text = html.unescape(text)
    seen = (char for char in unicodedata.normalize("NFKD", text) if unicodedata.category(char) not in _UNSEEN)
    return "".join(seen).casefold()
