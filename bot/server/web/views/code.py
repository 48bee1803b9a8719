"""Lines of code as a page shows them: numbered, split into tokens for highlighting, without active content."""

from __future__ import annotations

from dataclasses import dataclass

from bot.server.web.views.words import verbatim
from nodes.search.languages import lexemes
from nodes.trust.secrets import mask

COLOURED = 200
"""Tokens of one quote above which it is not highlighted, because many elements would make the page heavy."""


@dataclass(frozen=True, slots=True)
class Lines:
    """Some lines of a file."""

    where: str
    """The name for screen readers."""
    numbers: str
    """Line numbers, one per line; empty if the text is not from a file."""
    quote: tuple[tuple[str, str], ...]
    """(kind, text) pairs; the kind is a class of the style sheet, or empty."""


def numbers_of(text: str, first: int | None) -> str:
    """Return the line numbers of a text that begins at a line, one per line; empty without a first line."""
    return "\n".join(str(first + line) for line in range(text.count("\n") + 1)) if first else ""


def tokens_of(path: str | None, text: str) -> tuple[tuple[str, str], ...]:
    """Split a text into tokens if the language of its path is known and they are few; secrets are masked."""
    shown = mask(text)
    tokens = lexemes(path, shown) if path else []
    if not 0 < len(tokens) <= COLOURED:
        return (("", verbatim(shown)),)
    return tuple((kind, verbatim(token)) for kind, token in tokens)
