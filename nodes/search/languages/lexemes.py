"""Splits a few lines of code into pieces for syntax highlighting.

Pages are rendered in the process that answers GitHub, so no parser runs here: one regular expression takes linear time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Literal

from nodes.search.languages.keywords import KEYWORDS

Kind = Literal["", "comment", "string", "number", "keyword"]
LONGEST = 20_000
"""Characters; a longer quote has no highlighting."""
_HASH = frozenset(["python", "ruby", "php"])
"""Languages whose comments start with a number sign."""
_NO_SLASHES = frozenset(["python", "ruby"])
_TRIPLE = frozenset(["python", "kotlin", "scala", "swift", "java", "csharp"])
_BACKTICK = frozenset(["javascript", "typescript", "tsx", "go"])
_QUOTED_TEXT = frozenset(["python", "ruby", "php", "javascript", "typescript", "tsx"])
"""Languages in which single quotes enclose text; elsewhere they enclose one character, or start a lifetime's name."""
# An unterminated piece extends to the end of its line or of the quote: a second attempt would take quadratic time.
_SLASHES = r"//[^\n]*|/\*(?s:.*?)(?:\*/|\Z)"
_LONG = r'"""(?s:.*?)(?:"""|\Z)' + r"|'''(?s:.*?)(?:'''|\Z)"
_TEMPLATE = r"`(?>(?:\\.|[^`\\])*)`?"
_DOUBLE = r'"(?>(?:\\.|[^"\\\n])*)"?'
_SINGLE = r"'(?>(?:\\.|[^'\\\n])*)'?"
_CHARACTER = r"'(?:\\[^'\n]{1,9}|[^'\\\n])'"


def pieces(language: str, text: str) -> list[tuple[Kind, str]]:
    """Split text into comments, strings, numbers, keywords and the rest.

    Returns:
        Pieces that give the text when joined.
    """
    if len(text) > LONGEST or "\0" in text:
        return [("", text)]
    return [piece for piece in _pieces(language, text) if piece[1]]


def _pieces(language: str, text: str) -> Iterator[tuple[Kind, str]]:
    at = 0
    for found in _pattern(language).finditer(text):
        kind = _kind(language, found)
        if kind:
            yield "", text[at : found.start()]
            yield kind, found[0]
            at = found.end()
    yield "", text[at:]


def _kind(language: str, found: re.Match[str]) -> Kind:
    if found.lastgroup == "word":
        return "keyword" if found[0] in KEYWORDS[language] else ""
    kinds: dict[str | None, Kind] = {"comment": "comment", "string": "string", "number": "number"}
    return kinds[found.lastgroup]


@cache
def _pattern(language: str) -> re.Pattern[str]:
    comments = ["#[^\n]*"] * (language in _HASH) + [_SLASHES] * (language not in _NO_SLASHES)
    strings = [_LONG] * (language in _TRIPLE) + [_TEMPLATE] * (language in _BACKTICK) + [_DOUBLE]
    strings.append(_SINGLE if language in _QUOTED_TEXT else _CHARACTER)
    return re.compile(
        rf"(?P<comment>{'|'.join(comments)})|(?P<string>{'|'.join(strings)})"
        r"|(?P<number>\b\d[\w.]*)|(?P<word>[^\W\d]\w*)"
    )
