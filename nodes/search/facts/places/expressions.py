"""Expressions of code that a report quotes or names in prose, each with a pattern of the lines that contain it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

from nodes.search.facts.around.called_from import without_strings
from nodes.search.facts.inquiry import MAX_LINE
from nodes.search.issue.mentions.places import URL, is_path
from nodes.search.tokens import WORD

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nodes.search.facts.inquiry import Issue

SHORTEST, SHORTEST_VALUE, LONGEST = 4, 8, 160
"""Minimum length of an expression and of a value of prose, and maximum length, in characters."""
RAREST = 3
"""Minimum length of a word that is looked up."""
_STRING = r"(?:\"[^\"\n\\]{1,120}\"|'[^'\n\\]{1,120}')"
_DOTTED = r"[A-Za-z_$@][\w$]{0,60}(?:(?:\??\.|::|->)[A-Za-z_$][\w$]{0,60}){0,6}"
_VALUE = rf"(?:-?(?:0x[0-9a-fA-F]+|\d[\d_.]{{0,20}})|{_STRING}|{_DOTTED})"
_COMPARED = r"\s?(?:===?|!==?|<=|>=)\s?"
_PARTS = re.compile(
    rf"{_DOTTED}(?:{_COMPARED}|\s?[<>]\s?|\sis\snot\s|\sis\s|\snot\sin\s|\sin\s|\s?(?:=|:=|[+|]=)\s?){_VALUE}"
    rf"|{_DOTTED}\[{_VALUE}\]|(?P<name>{_DOTTED})\(?|{_STRING}|\b0x[0-9a-fA-F]{{3,16}}\b|\b\d{{4,20}}\b"
)
"""A comparison, a value with its name, a value read by its key, a qualified name, a string or an unusual number."""
_CONSTANT = r"[\"'](?=[^\"'\n]{0,40}[A-Z0-9_.-])[\w.-]{4,60}[\"']"
_IN_PROSE = re.compile(
    rf"(?<![\w$./-])(?:{_CONSTANT}|{_DOTTED}(?:{_COMPARED}|=){_VALUE}|{_DOTTED}\[{_STRING}\]|(?P<name>{_DOTTED})\()"
)
"""An expression or an unusual string of prose; most qualified names without a call there are products and addresses."""
_QUALIFIED = re.compile(r"\w(?:\.|::|->)\w")
_SPAN = re.compile(r"`[^`\n]{1,300}`")
_NAME = re.compile(r"\.?[\w$ -]+(?:\(\))?")
"""A name, with or without empty parentheses, or words."""
FAILED = re.compile(
    r"[>#\s]{0,8}(?:Error in (?P<call>\S.{2,158}?) ?:(?:\s|$)|[^\d:]{0,40}\bline \d{1,6}: (?P<command>\S.{2,158})$)"
)
"""The call that an error names, as R prints it, or the command, as a script prints it that stops at a failure."""
_ROUTE = re.compile(r"(?:(?:GET|POST|PUT|PATCH|DELETE)\s)?(?P<route>/?[\w:{}-]{2,40}(?:/[\w:{}.-]{1,40}){1,6})")
"""A route of a server, a method of a protocol or a type of a medium: code has it as a whole string."""
_VALUE_IN_PROSE = re.compile(
    r"(?<![A-Za-z0-9_./:@#%&=-])(?=[A-Za-z0-9.-]{0,60}[0-9])[A-Za-z][A-Za-z0-9]{0,30}(?:[-.][A-Za-z0-9]{1,30}){1,6}"
    r"(?![A-Za-z0-9_/@:=-]|\.[A-Za-z0-9])"
)
"""A value that code may have as a whole string, such as the name of a model: words and numbers with hyphens or dots."""
_FILE = re.compile(r"\.\w{1,5}$")
_TOKEN = re.compile(rf"{_STRING}|[\w$]+|\S")


@dataclass(frozen=True)
class Expression:
    """A piece of code as the report writes it."""

    words: str
    marked: bool
    """Whether it is in a code span, or a string that the title quotes."""
    whole: bool = False
    """Whether only a string of code that consists of it counts."""

    @property
    def is_value(self) -> bool:
        """Return whether it is an unmarked word of prose, which may be data of an example."""
        return self.whole and not self.marked

    @property
    def names(self) -> tuple[str, ...]:
        """Return the words of the expression that are long enough to be looked up."""
        # A word of Chinese or Japanese has two characters.
        words = (word for word in WORD.findall(self.words) if len(word) >= (RAREST if word.isascii() else 2))
        return tuple(dict.fromkeys(words))

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Return a pattern of the same tokens, with any white space and quotes."""
        parts, before = list[str](), ""
        for token in _TOKEN.findall(self.words):
            spaced = _is_word(before[-1:]) and _is_word(token[0])
            parts.append((r"\s{1,8}" if spaced else r"\s{0,8}") if parts else "")
            quoted = len(token) > 1 and token[0] in "\"'"
            parts.append(rf"[\"'`]{re.escape(token[1:-1])}[\"'`]" if quoted else re.escape(token))
            before = token
        if self.whole:
            return re.compile(rf"[\"'`]{re.escape(self.words)}[\"'`]")
        start = r"(?<![\w$])" if _is_word(self.words[0]) else ""
        return re.compile(start + "".join(parts) + (r"(?![\w$])" if _is_word(self.words[-1]) else ""))

    def is_in(self, text: str) -> bool:
        """Return whether a line contains the expression; a message that contains a piece of code is no such code."""
        is_code = _PARTS.fullmatch(self.words) and not re.search(r"[\"'`]", self.words)
        return bool(self.pattern.search(without_strings(text) if is_code else text))


def expressions(issue: Issue) -> list[list[Expression]]:
    """Return for each code span, and for each expression of prose, the expression and the parts of a longer one.

    The call or the command that an error names is an expression too.
    """
    spans: Iterable[list[Expression]] = (
        [Expression(item, marked=True) for item in _of_span(span)] for span in issue.spans
    )
    calls = (found["call"] or found["command"] for line in issue.lines if (found := FAILED.match(line[:MAX_LINE])))
    spans = chain(spans, ([Expression(call, marked=True)] for call in calls if not _NAME.fullmatch(call)))
    # A string that the title quotes is what the report is about.
    titled = ([Expression(item, marked=item[0] in "\"'")] for item in _of_prose(issue.title))
    prose = chain(titled, ([Expression(item, marked=False)] for line in issue.prose for item in _of_prose(line)))
    routes = ([Expression(route, marked=True, whole=True)] for span in issue.spans if (route := _route(span)))
    values = (
        [Expression(value, marked=False, whole=True)]
        for line in (issue.title, *issue.prose)
        for value in _VALUE_IN_PROSE.findall(URL.sub(" ", line[:MAX_LINE]))
        if len(value) >= SHORTEST_VALUE and not value.isupper() and not is_path(value)
    )
    return [item for item in (*spans, *routes, *prose, *values) if item]


def _of_span(span: str) -> Iterator[str]:
    """Yield a code span if it is more than a name, and then its parts."""
    whole = span.strip().rstrip(";,")
    if SHORTEST <= len(whole) <= LONGEST and not _NAME.fullmatch(whole) and not is_path(whole):
        yield whole
    yield from (found[0] for found in _PARTS.finditer(span[:LONGEST]) if _is_rare(found))


def _route(span: str) -> str | None:
    """Return the route of a code span that is one and not the path of a file."""
    found = _ROUTE.fullmatch(span.strip())
    return found["route"] if found and not _FILE.search(found["route"]) else None


def _of_prose(line: str) -> Iterator[str]:
    plain = URL.sub(" ", _SPAN.sub(" ", line[:MAX_LINE]))
    yield from (found[0] for found in _IN_PROSE.finditer(plain) if _is_rare(found))


def _is_rare(found: re.Match[str]) -> bool:
    """Return whether a part is long enough and, if it is a name, qualified."""
    qualified = found["name"] is None or _QUALIFIED.search(found[0])
    return bool(qualified) and len(found[0].strip("\"'")) >= SHORTEST and not is_path(found[0])


def _is_word(character: str) -> bool:
    return character.isalnum() or character in ("_", "$")
