"""Split a few lines of code into pieces for syntax highlighting, with the reserved words of each language.

Pages are rendered in the process that answers GitHub, so no parser runs here: one regular expression takes linear time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Literal

from nodes.search.languages.by_lines import SYNTAX, tokens

_C = """auto break case char const continue default do double else enum extern float for goto if inline int long
    register return short signed sizeof static struct switch typedef union unsigned void volatile while NULL true
    false"""
_JAVASCRIPT = """as async await break case catch class const continue debugger default delete do else export extends
    false finally for from function get if import in instanceof let new null of return set static super switch this
    throw true try typeof undefined var void while with yield"""
_TYPESCRIPT = f"""{_JAVASCRIPT} abstract any boolean declare enum implements interface is keyof namespace number
    private protected public readonly string type unknown"""
_PYTHON = """and as assert async await break case class continue def del elif else except False finally for from
    global if import in is lambda match None nonlocal not or pass raise return self True try while with yield"""

_WORDS = {
    "c": _C,
    "cpp": f"""{_C} bool catch class constexpr delete explicit final friend mutable namespace new noexcept nullptr
        operator override private protected public template this throw try typename using virtual""",
    "csharp": """abstract as async await base bool break byte case catch char class const continue decimal default do
        double else enum event false finally float for foreach get if in int interface internal is lock long namespace
        new null object out override params private protected public readonly record ref return sealed set static
        string struct switch this throw true try typeof using var virtual void while yield""",
    "go": """break case chan const continue default defer else fallthrough false for func go goto if import interface
        map nil package range return select struct switch true type var""",
    "java": """abstract assert boolean break byte case catch char class const continue default do double else enum
        extends false final finally float for if implements import instanceof int interface long native new null
        package private protected public record return short static super switch synchronized this throw throws
        transient true try var void volatile while""",
    "javascript": _JAVASCRIPT,
    "kotlin": """abstract as break by class companion continue data do else enum false final finally for fun if import
        in interface internal is lateinit null object open operator override package private protected public return
        sealed super suspend this throw true try typealias val var when while""",
    "php": """abstract and array as break case catch class clone const continue declare default do echo else elseif
        enum extends false final finally fn for foreach function global if implements instanceof interface match
        namespace new null or private protected public readonly require require_once return self static switch this
        throw trait true try use var while yield""",
    "python": _PYTHON,
    "ruby": """alias and begin break case class def defined do else elsif end ensure false for if in module next nil
        not or redo rescue retry return self super then true undef unless until when while yield""",
    "rust": """as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod
        move mut pub ref return self Self static struct super trait true type unsafe use where while""",
    "scala": """abstract case catch class def do else enum extends false final finally for given if implicit import
        lazy match new null object override package private protected return sealed super this throw trait true try
        type using val var while with yield""",
    "swift": """as associatedtype async await break case catch class continue default defer deinit do else enum
        extension false fileprivate for func guard if import in init inout internal is let mutating nil open operator
        private protocol public repeat rethrows return self Self static struct subscript super switch throw throws
        true try typealias var where while""",
    "typescript": _TYPESCRIPT,
    "tsx": _TYPESCRIPT,
    "component": _TYPESCRIPT,
}
_USUAL = (
    "begin case do done elif else elsif end false fi for if in let local match nil null return then true when while"
)
"""Reserved words of most languages that are outlined by their lines."""
KEYWORDS = {language: frozenset(words.split()) for language, words in _WORDS.items()} | {
    name: frozenset(f"{_USUAL} {' '.join(syntax.words.values())} {syntax.before}".split())
    for name, syntax in SYNTAX.items()
}


Kind = Literal["", "comment", "string", "number", "keyword"]
LONGEST = 20_000
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
    kinds: dict[str | None, Kind] = {
        "comment": "comment",
        "span": "comment",
        "string": "string",
        "number": "number",
    }
    return kinds[found.lastgroup]


@cache
def _pattern(language: str) -> re.Pattern[str]:
    if language in SYNTAX:
        return re.compile(rf"{tokens(SYNTAX[language]).pattern}|{_REST}", re.MULTILINE)
    comments = ["#[^\n]*"] * (language in _HASH) + [_SLASHES] * (language not in _NO_SLASHES)
    strings = [_LONG] * (language in _TRIPLE) + [_TEMPLATE] * (language in _BACKTICK) + [_DOUBLE]
    strings.append(_SINGLE if language in _QUOTED_TEXT else _CHARACTER)
    return re.compile(rf"(?P<comment>{'|'.join(comments)})|(?P<string>{'|'.join(strings)})|{_REST}")
