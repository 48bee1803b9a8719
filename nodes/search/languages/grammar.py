"""The description of a language, and the outlines that need no parser."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from nodes.search.types import Outline

MAX_SOURCE = 1_000_000
"""Bytes; a larger file is data or generated and is indexed as text only."""
MAX_LINE = 5_000
"""Mean bytes per line; a file with more is minified."""
MAX_UNCLOSED = 100
"""Maximum unterminated comments per file; the time of Swift's scanner grows by the cube of their number."""


@dataclass(frozen=True, slots=True)
class Language:
    """The parser of one language and the queries of its syntax tree.

    The query's captures are named after what they find. A kind of definition (``function``, ``class`` …) or ``scope``
    (a block that only adds its name) comes with a ``name`` and optionally an ``owner``. ``import``, ``string`` and
    ``lead`` (an attribute that belongs to the next definition) have neither.
    """

    name: str
    endings: tuple[str, ...]
    package: str
    """The wheel's module."""
    query: str
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
