"""Finds what an issue names outside its stack traces: paths, symbols, modules, messages, versions and code."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from nodes.search.issue.mentions.markdown import (
    MAX_TEXT,
    form_fields,
    indented_blocks,
    lines,
    split_blocks,
    split_fields,
    without_comments,
)
from nodes.search.issue.mentions.places import URL, find_places, is_path
from nodes.search.issue.mentions.versions import find_platforms, find_versions
from nodes.search.tokens import load_sections, load_words

_FORMS = load_sections(Path(__file__).with_name("found.txt"))
_FROM, _IMPORT, _USE, _USING, _QUOTED_MODULE, _DASH_M, _ERROR, _OF_CALL = (
    re.compile("".join(_FORMS[name])) for name in "from import use using quoted_module dash_m error of_call".split()
)
_PHRASE, _INLINE, _WORD, _UNSPACED, _CAMEL = (
    re.compile("".join(_FORMS[name])) for name in "phrase inline word unspaced camel".split()
)
_SAYS = re.compile("".join(_FORMS["says"]), re.IGNORECASE)
ANNOUNCED = re.compile("".join(_FORMS["announced"]), re.IGNORECASE | re.MULTILINE)
_INCLUDE = re.compile(r"#\s{0,4}include\s{0,4}[<\"]([^>\"\n]{1,200})[>\"]")
_MAX_MESSAGE = 300
_LEAST_UNSPACED = 6
"""Minimum length of a message in a language that writes words without spaces."""
__all__ = ["ANNOUNCED", "MAX_EACH", "Mentions", "find_mentions", "form_fields", "split_fields"]

T = TypeVar("T")

MAX_EACH = 100
"""Maximum number of stored mentions per kind."""

_WORDS = load_words(Path(__file__).with_name("words.txt"))


def find_modules(text: str) -> Iterator[str]:
    """Yield each module as written, with repeats."""
    for raw in lines(text):
        line = raw.strip().lstrip("> ").strip()
        if "python" in line:
            yield from _DASH_M.findall(line)
        if statement := _FROM.match(line):
            yield statement[1]
        elif statement := _IMPORT.match(line):
            yield from (name.split(" as ")[0].strip() for name in statement[1].split(","))
        elif statement := _USE.match(line) or _USING.match(line) or _INCLUDE.match(line):
            yield statement[1]
        # Besides the statements above: ``import x from "y"`` has its module at the end.
        if '"' in line or "'" in line:
            yield from _QUOTED_MODULE.findall(line)


def find_symbols(prose: str, code: str) -> Iterator[str]:
    """Yield each identifier, with repeats; per line of prose, those in backticks come first."""
    for line in lines(prose):
        for span in _INLINE.findall(line):
            yield from (word for word, _ in _words(span) if word not in _WORDS["keywords"])
        yield from (word for word, called in _words(URL.sub(" ", line)) if _looks_like_code(word, called=called))
    for line in lines(code):
        yield from (word for word, called in _words(line) if _looks_like_code(word, called=called))


def _words(line: str) -> Iterator[tuple[str, bool]]:
    for found in _WORD.finditer(line if line.isascii() else _UNSPACED.sub(" ", line)):
        called = bool(found[1])
        # ``save!`` is a method in Ruby, but in prose the mark ends a sentence far more often.
        word = found[0][:-1] if called else found[0].rstrip("!?")
        if len(word) > 1 and not is_path(word):
            yield word, called


def _looks_like_code(word: str, *, called: bool) -> bool:
    if word in _WORDS["ordinary"] or word in _WORDS["keywords"]:
        return False
    return (
        called
        or "_" in word.strip("_")
        or ("." in word or "::" in word or "->" in word or "#" in word)
        or bool(_CAMEL.search(word))
    )


def find_messages(text: str, prose: str) -> Iterator[str]:
    """Yield the messages of the whole text, then the phrases that its prose quotes."""
    for raw in lines(text):
        line = raw.strip()
        # A typed error is at the beginning of its line; "error: …" may follow a path or a program's name.
        error = _ERROR.match(line) or _OF_CALL.match(line) or _SAYS.search(line)
        if error:
            yield _unmarked(error[1])[:_MAX_MESSAGE]
    for line in lines(prose):
        for groups in _PHRASE.findall(line):
            phrase = "".join(groups).strip()
            # Quotes around one or two words are mostly names or emphasis.
            if len(phrase.split()) >= 3 or len("".join(_UNSPACED.findall(phrase))) >= _LEAST_UNSPACED:
                yield phrase


def _unmarked(message: str) -> str:
    """Remove emphasis and quotation marks around a whole message; those of a name at its start or end stay."""
    plain = message.strip(" *")
    for mark in "`\"'":
        count = plain.count(mark)
        # The counterpart of a single mark is before the message or after it.
        if count == 1 or (count == 2 and plain[0] == plain[-1] == mark):
            plain = plain.removeprefix(mark).removesuffix(mark)
        elif count % 2:
            plain = plain.removesuffix(mark)
    return plain.strip(" *")


@dataclass(frozen=True, slots=True)
class Mentions:
    """The names in a text, without repeats, in order of appearance, at most a hundred per kind."""

    paths: tuple[str, ...] = ()
    """Files and folders with forward slashes, without line numbers."""
    lines: tuple[tuple[str, int, int], ...] = ()
    """(path, first, last): the 1-based inclusive lines that the text names with a path."""
    symbols: tuple[str, ...] = ()
    """Identifiers that look like code, without a call's parentheses."""
    modules: tuple[str, ...] = ()
    """Dotted or path-like, as in an import statement."""
    errors: tuple[str, ...] = ()
    """Messages: the text after ``XError:`` or ``error:``, and quoted phrases of three words or six Chinese
    characters."""
    versions: tuple[str, ...] = ()
    """With the name that they belong to, if stated: ``Django 3.2``."""
    platforms: tuple[str, ...] = ()
    """Systems, browsers and runtimes, in lower case."""
    code_blocks: tuple[str, ...] = ()
    """The content of fenced and of indented blocks."""


def named_symbols(text: str) -> tuple[str, ...]:
    """Return the symbols that a text mentions, without the time that all its mentions take."""
    prose, code = split_fields(text)
    return _first(find_symbols(prose, code))


def find_mentions(text: str) -> Mentions:
    """Return everything that a text names, for ranking and for detecting missing details."""
    text = without_comments(text[:MAX_TEXT])
    prose, blocks = split_blocks(text)
    # Paths are searched in the whole text, because most of them are in pasted output; symbols differ between prose
    # and code.
    places = list(find_places(text))
    return Mentions(
        paths=_first(path for path, _, _ in places),
        lines=_first(place for place in places if place[1]),
        symbols=_first(find_symbols(prose, "\n".join(blocks))),
        modules=_first(find_modules(text)),
        errors=_first(find_messages(text, prose)),
        versions=_first(find_versions(prose)),
        platforms=_first(find_platforms(prose)),
        code_blocks=_first((*blocks, *indented_blocks(prose))),
    )


def _first(found: Iterable[T]) -> tuple[T, ...]:
    """Return the first distinct non-empty items; stop at the limit, so that later items are never computed."""
    distinct: dict[T, None] = {}
    for item in found:
        if item:
            distinct.setdefault(item)
        if len(distinct) >= MAX_EACH:
            break
    return tuple(distinct)
