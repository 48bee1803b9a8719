"""Words that people taught for places: which of them an issue names."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from bot.ports import TaughtWord

LONGEST_WORD = 60
_LONGEST_TEXT = 70_000
"""Characters of an issue that are read; GitHub accepts 65,536."""
_UNSPACED = 0x2E80
"""The first code point of scripts without spaces between words, such as Chinese and Japanese."""


def normal(text: str) -> str:
    """Return a text in the form in which words are compared: without case, with single spaces."""
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def word_of(written: str) -> str | None:
    """Return the word, or two words, that a person wrote, for comparison; None if it is neither."""
    word = normal(written.strip(" \t`\"'“”„«»"))
    wrong = not 2 <= len(word) <= LONGEST_WORD or word.count(" ") > 1 or not word.isprintable() or "`" in word
    return None if wrong or not any(map(str.isalnum, word)) else word


def hints_of(taught: Iterable[TaughtWord], title: str, body: str) -> tuple[str, ...]:
    """Return the paths of the words that an issue names, each once, in the order of the words."""
    text = ""
    found = dict[str, None]()
    for one in taught:
        # Prepared once and only if there is a word at all: most repositories have none.
        text = text or f" {normal(f'{title} {body}'[:_LONGEST_TEXT])} "
        if names_word(text, one.word):
            found[one.path] = None
    return tuple(found)


def names_word(text: str, word: str) -> bool:
    """Return whether a text has the word as a whole; both are in normal form, and the text has a space at each end."""
    at = text.find(word)
    while at >= 0:
        end = at + len(word)
        if not (_joins(text[at - 1], word[0]) or _joins(word[-1], text[end])):
            return True
        at = text.find(word, at + 1)
    return False


def _joins(one: str, other: str) -> bool:
    """Return whether two neighbouring characters belong to one word."""
    return all((char.isalnum() or char == "_") and ord(char) < _UNSPACED for char in (one, other))
