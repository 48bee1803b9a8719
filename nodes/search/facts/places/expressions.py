"""Expressions of code, routes, options and values that a report gives, as ``quoted_here`` looks them up."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path

from nodes.search.facts.around.called_from import without_strings
from nodes.search.facts.inquiry import MAX_LINE, IssueParts
from nodes.search.facts.names.read_here import FLAG
from nodes.search.facts.output.shapes import messages
from nodes.search.issue.mentions.places import URL, is_path
from nodes.search.tokens import WORD, load_sections

SHORTEST_EXPRESSION, SHORTEST_VALUE, LONGEST_EXPRESSION, RAREST = 4, 8, 160, 3
"""Minimum length of an expression and of a value of prose, maximum length, and minimum of a word that is looked up."""
_FORMS = load_sections(Path(__file__).with_name("expressions.txt"))
_PARTS, _VALUES, _IN_PROSE, _QUALIFIED, _SPAN, _CODE_IN_QUOTES, _PROPOSED = (
    re.compile("".join(_FORMS[name])) for name in "parts values in_prose qualified span code_in_quotes proposed".split()
)
_NAME, _ROUTE, _ADDRESS, _MOUNTED, _VALUE_IN_PROSE, _LITERAL, _MISSED = (
    re.compile("".join(_FORMS[name])) for name in "name route address mounted value_in_prose literal missed".split()
)
_CLASS, _FILE, _TOKEN = (re.compile("".join(_FORMS[name])) for name in ("class", "file", "token"))
FAILED, REQUEST, KEY = (re.compile("".join(_FORMS[name])) for name in ("failed", "request", "key"))
ASSERTED = messages("asserted")


@dataclass(frozen=True)
class Expression:
    """A piece of code as the report writes it."""

    words: str
    marked: bool
    """Whether it is in a code span, or a string that the title quotes."""
    whole: bool = False
    """Whether only a string of code that consists of it counts."""

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
        outside = r"(?<![\w$.])" if re.match(r"\w+=(?!=)", self.words) else r"(?<![\w$])"  # an argument, no attribute
        start = outside if _is_word(self.words[0]) else ""
        return re.compile(start + "".join(parts) + (r"(?![\w$])" if _is_word(self.words[-1]) else ""))

    def is_in(self, text: str) -> bool:
        """Return whether a line has the expression, or a string that is it; a message that quotes it does not count."""
        is_code = not self.whole and _PARTS.fullmatch(self.words) and not re.search(r"[\"'`]", self.words)
        if is_code and re.search(rf"[\"'`]{re.escape(self.words)}[\"'`]", text):
            return True
        return bool(self.pattern.search(without_strings(text) if is_code else text))


def expressions(issue: IssueParts) -> list[list[Expression]]:
    """Return for each code span, and for each expression of prose, the expression and the parts of a longer one.

    The call or the command that an error names, and what an assertion tests, are expressions too.
    """
    proposed = {span for line in issue.prose for span in _PROPOSED.findall(line[:MAX_LINE])}
    spans: Iterable[list[Expression]] = (
        [Expression(item, marked=True) for item in _of_span(span)]
        for span in (*issue.spans, *chain.from_iterable(map(_CODE_IN_QUOTES.findall, (issue.title, *issue.prose))))
        if span not in proposed
    )
    calls = [next(filter(None, found.groups())) for line in issue.lines if (found := FAILED.match(line[:MAX_LINE]))]
    calls += [found["code"] for line in issue.lines for form in ASSERTED if (found := form.search(line[:MAX_LINE]))]
    spans = chain(spans, ([Expression(call, marked=True)] for call in calls if not _NAME.fullmatch(call)))
    titled = ([Expression(item, marked=item[0] in "\"'")] for item in _of_prose(issue.title))
    prose = chain(titled, ([Expression(item, marked=False)] for line in issue.prose for item in _of_prose(line)))
    routes = ([Expression(route, marked=True, whole=True)] for span in issue.spans if (route := _route(span)))
    requests = (
        [Expression(route, marked=True, whole=True), Expression(_MOUNTED.sub("", route, 1), marked=True, whole=True)]
        for line in (issue.title, *issue.prose)
        for route in (*REQUEST.findall(line[:MAX_LINE]), *_ADDRESS.findall(line[:MAX_LINE]))
    )
    plain = [URL.sub(" ", line[:MAX_LINE]) for line in (issue.title, *issue.prose)]
    values = (
        [Expression(value, marked=False, whole=True)]
        for value in chain.from_iterable(map(_VALUE_IN_PROSE.findall, plain))
        if len(value) >= SHORTEST_VALUE and not value.isupper() and not is_path(value)
    )
    flags = (*FLAG.findall(URL.sub(" ", issue.title)), *filter(FLAG.fullmatch, issue.spans))
    options = ([Expression(flag, marked=True, whole=True)] for flag in flags)
    missed = (found[1] or found[2] for line in issue.lines if (found := _MISSED.search(line[:MAX_LINE])))
    named = ([Expression(name, marked=True, whole=True)] for name in missed if not is_path(name))
    literals = ([Expression(text, marked=False)] for line in plain for text in _LITERAL.findall(line))
    return [item for item in (*spans, *routes, *requests, *options, *named, *prose, *values, *literals) if item]


def classes(issue: IssueParts) -> list[str]:
    """Return the names of classes that the title or the prose gives with their whole package."""
    return [name for line in (issue.title, *issue.prose) for name in _CLASS.findall(URL.sub(" ", line[:MAX_LINE]))]


def _of_span(span: str) -> Iterator[str]:
    """Yield a code span if it is more than a name, and then its parts."""
    whole = span.strip().rstrip(";,")
    if SHORTEST_EXPRESSION <= len(whole) <= LONGEST_EXPRESSION and not _NAME.fullmatch(whole) and not is_path(whole):
        yield whole
    # No part of a command's option, such as ``--flag=false``, is an expression of code.
    parts = (found for found in _PARTS.finditer(span[:LONGEST_EXPRESSION]) if not span[: found.start()].endswith("-"))
    yield from (found[0] for found in parts if _is_rare(found))
    # The name before a constant may be that of a variable of the program's user, or of an event.
    yield from _VALUES.findall(span[:LONGEST_EXPRESSION])


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
    return bool(qualified) and len(found[0].strip("\"'")) >= SHORTEST_EXPRESSION and not is_path(found[0])


def _is_word(character: str) -> bool:
    return character.isalnum() or character in ("_", "$")
