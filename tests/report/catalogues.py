"""The catalogues as tests read them, and what a sentence has in common with its translation."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from babel.messages.pofile import read_po

from bot.report import languages

EXACT = re.compile(r"`[^`\n]+`|\]\(\S+?\)|https?://\S+|“[^”\n]*”|L?\d+(?:[.-]L?\d+)*")
"""What a translation repeats: code, links, addresses, quotations and numbers."""


@cache
def catalogue(language: str) -> dict[str, str]:
    """Return the sentences of a language by the English ones."""
    with Path(languages.__path__[0], f"{language}.po").open("rb") as file:
        return {str(message.id): str(message.string) for message in read_po(file) if message.id}


def exact(text: str) -> list[str]:
    """Return what every translation of a text repeats, in alphabetical order."""
    return sorted(EXACT.findall(text))
