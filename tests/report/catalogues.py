"""The catalogues as tests read them, and what a sentence has in common with its translation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from docs.catalogues import catalogue_file, read
from nodes.search.sentences import Sentence

EXACT = re.compile(r"`[^`\n]+`|\]\(\S+?\)|https?://\S+|“[^”\n]*”|L?\d+(?:[.-]L?\d+)*")
"""What a translation repeats: code, links, addresses, quotations and numbers."""


@cache
def catalogue(language: str) -> dict[str, str]:
    """Return the translated sentences of a language by the English ones."""
    known = read(catalogue_file(language).read_text("utf-8"))
    return {str(message.id): str(message.string) for message in known if message.id and message.string}


def exact(text: str) -> list[str]:
    """Return what every translation of a text repeats, in alphabetical order."""
    return sorted(EXACT.findall(text))


def parts_of(sentence: Sentence) -> Iterator[str]:
    """Yield the texts that a catalogue needs for a sentence: its own and those of its parts."""
    yield sentence.text
    for value in sentence.values.values():
        yield from parts_of(value) if isinstance(value, Sentence) else ()
