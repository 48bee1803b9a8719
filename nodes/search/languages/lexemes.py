"""Split a few lines of code into pieces for syntax highlighting, for pages.

Pages are rendered in the process that answers GitHub, so no parser runs here: one regular expression takes linear time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Literal

from nodes.search.languages.by_lines import SYNTAX, tokens
from nodes.search.languages.table import LANGUAGES, language_by_path

_USUAL = (
    "begin case do done elif else elsif end false fi for if in let local match nil null return then true when while"
)
"""Reserved words of most languages that are outlined by their lines."""
KEYWORDS = {language.name: language.keywords for language in LANGUAGES} | {
    name: frozenset(f"{_USUAL} {' '.join(syntax.words.values())} {syntax.before}".split())
    for name, syntax in SYNTAX.items()
}
Kind = Literal["", "comment", "string", "number", "keyword"]
MAX_HIGHLIGHTED = 20_000
"""Characters; a longer quote has no highlighting."""
_HASH = frozenset(["python", "ruby", "php"])
"""Languages whose comments start with a number sign."""
_NO_SLASHES = frozenset(["python", "ruby"])
_TRIPLE = frozenset(["python", "kotlin", "scala", "swift", "java", "csharp"])
_BACKTICK = frozenset(["javascript", "typescript", "tsx", "component", "go"])
_QUOTED_TEXT = frozenset(["python", "ruby", "php", "javascript", "typescript", "tsx", "component"])
"""Languages in which single quotes enclose text; elsewhere they enclose one character, or start a lifetime's name."""
# An unterminated piece extends to the end of its line or of the quote: a second attempt would take quadratic time.
_SLASHES = r"//[^\n]*|/\*(?s:.*?)(?:\*/|\Z)"
_LONG = r'"""(?s:.*?)(?:"""|\Z)' + r"|'''(?s:.*?)(?:'''|\Z)"
_TEMPLATE = r"`(?>(?:\\.|[^`\\])*)`?"
_DOUBLE = r'"(?>(?:\\.|[^"\\\n])*)"?'
_SINGLE = r"'(?>(?:\\.|[^'\\\n])*)'?"
# At least one character and a closing quote, so that ``'a`` (a lifetime in Rust) is not a string.
_CHARACTER = r"'(?:\\[^'\n]{1,9}|[^'\\\n])'"
_REST = r"(?P<number>\b\d[\w.]*)|(?P<word>[^\W\d]\w*)"


def lexemes(path: str, text: str) -> list[tuple[Kind, str]]:
    """Split a few lines of a file into comments, strings, numbers, keywords and the rest; joined they are the text."""
    language = language_by_path(path)
    if language is None or len(text) > MAX_HIGHLIGHTED or "\0" in text:
        return [("", text)]
    return [piece for piece in _pieces(language.name, text) if piece[1]]


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
    kinds: dict[str | None, Kind] = {"comment": "comment", "span": "comment", "string": "string", "number": "number"}
    return kinds[found.lastgroup]


@cache
def _pattern(language: str) -> re.Pattern[str]:
    if language in SYNTAX:
        return re.compile(rf"{tokens(SYNTAX[language]).pattern}|{_REST}", re.MULTILINE)
    comments = ["#[^\n]*"] * (language in _HASH) + [_SLASHES] * (language not in _NO_SLASHES)
    strings = [_LONG] * (language in _TRIPLE) + [_TEMPLATE] * (language in _BACKTICK) + [_DOUBLE]
    strings.append(_SINGLE if language in _QUOTED_TEXT else _CHARACTER)
    return re.compile(rf"(?P<comment>{'|'.join(comments)})|(?P<string>{'|'.join(strings)})|{_REST}")
