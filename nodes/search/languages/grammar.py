"""The description of a language, the outlines that need no parser, and the nesting of definitions."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from nodes.search.types import Definition, Outline

MAX_STRINGS = 400
"""Maximum number of stored messages per file."""
MAX_STRING = 300
MAX_NAME = 300
"""Maximum characters of a dotted prefix. A longer one is dropped, because deep nesting would exhaust memory."""
# Up to three letters: ``rb"``, ``u8"``, ``@"``, ``$@"``, ``#"``.
_OPENING = re.compile(r"^[A-Za-z@$#]{0,3}[\"'`]{1,3}")
_CLOSING = re.compile(r"[\"'`]{1,3}#?$")
MAX_SOURCE = 1_000_000
"""Bytes; a larger file is data or generated and is indexed as text only."""
MAX_LINE = 5_000
"""Mean bytes per line; a file with more is minified."""
MAX_UNCLOSED = 100
"""Maximum unterminated comments per file; the time of Swift's scanner grows by the cube of their number."""


@dataclass(slots=True)
class FoundBlock:
    """A definition alone, or a block that only adds its name to those inside (``scope``)."""

    kind: str
    name: str
    start: int
    """First byte."""
    end: int
    """End byte, exclusive."""
    start_line: int
    end_line: int


def nested(found: Iterable[FoundBlock]) -> tuple[Definition, ...]:
    """Prefix each name with those of the definitions around it; count a node that was found twice once."""
    open_: list[tuple[int, str]] = []
    result: list[Definition] = []
    seen: set[tuple[int, int]] = set()
    # Outer ranges come first. Of a definition and a scope with the same range, the definition counts.
    for item in sorted(found, key=lambda f: (f.start, -f.end, f.kind == "scope")):
        if (item.start, item.end) in seen:
            continue
        seen.add((item.start, item.end))
        while open_ and open_[-1][0] < item.end:
            open_.pop()
        if open_ and open_[-1][0] == item.end and open_[-1][1].rpartition(".")[2] == item.name:
            continue  # the node of a decorated definition contains the plain one
        full = f"{open_[-1][1]}.{item.name}" if open_ and len(open_[-1][1]) < MAX_NAME else item.name
        open_.append((item.end, full))
        if item.kind != "scope":
            kind: Any = "method" if item.kind == "function" and "." in full else item.kind
            result.append(Definition(full, kind, item.start_line, item.end_line))
    return tuple(result)


def message(quoted: bytes) -> str:
    """Return the text of a string literal if it has a space; most literals are not messages and give an empty text."""
    if b" " not in quoted:  # a cheap test first, since most literals fail it
        return ""
    text = _OPENING.sub("", quoted.decode("utf-8", "replace"))
    # Only the end is searched, because a literal may have a megabyte.
    text = (text[:-8] + _CLOSING.sub("", text[-8:])).strip()
    return text[:MAX_STRING] if " " in text and len(text) < 4 * MAX_STRING else ""


@dataclass(frozen=True, slots=True)
class Language:
    """One language, the parser of its files and the queries of their syntax trees.

    A query's captures are named after what they find. A kind of definition (``function``, ``class`` …) or ``scope``
    (a block that only adds its name) comes with a ``name`` and optionally an ``owner``. ``import``, ``string`` and
    ``lead`` (an attribute that belongs to the next definition) have neither.
    """

    name: str
    endings: tuple[str, ...]
    package: str = ""
    """The wheel's module; empty if there is no grammar."""
    queries: tuple[str, ...] = ()
    """The files of ``queries/`` that are joined to its query, without their ending."""
    factory: str = "language"
    """The function of that module that returns the grammar."""
    files: tuple[str, ...] = ()
    """File names that belong to this language whatever their ending."""
    outline_by_lines: Callable[[bytes], Outline | None] | None = None
    """Returns the parser's outline of plainly written source in less time; None if the source needs the parser."""


def outline_without_parser(language: Language, source: bytes) -> Outline | None:
    """Outline a file that is too large, minified or plainly written; None if the parser is needed."""
    # Such a file has no outline, but its words are still indexed.
    if len(source) > MAX_SOURCE or len(source) > MAX_LINE * (source.count(b"\n") + 1):
        return Outline(language.name)
    # Counting bytes is exact enough: a file with a hundred more openings than closings in strings is not an ordinary
    # source.
    opened = source.count(b"/*")
    if opened > MAX_UNCLOSED and opened > source.count(b"*/") + MAX_UNCLOSED:
        return Outline(language.name)
    return language.outline_by_lines(source) if language.outline_by_lines else None
