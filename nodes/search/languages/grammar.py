"""How a language is described, and the outlines that need no parser."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from nodes.search.types import Outline

MAX_SOURCE = 1_000_000
"""Bytes above which a file is data or generated: it stays searchable as text."""
MAX_LINE = 5_000
"""Mean bytes a line above which a file is minified."""
MAX_UNCLOSED = 100
"""Comments that a file opens and does not end; to look for the end of each, Swift's scanner takes time that grows by
its cube."""


@dataclass(frozen=True, slots=True)
class Language:
    """How the parser of one language is found and queried.

    The query's captures are named for what they find: a kind of definition (``function``, ``class`` …), ``scope`` (a
    block that only lends its name), each with a ``name`` and perhaps an ``owner``; ``import``, ``string`` and ``lead``
    (what belongs to the definition behind it: an attribute) stand alone.
    """

    name: str
    endings: tuple[str, ...]
    package: str
    """The wheel's module."""
    query: str
    factory: str = "language"
    """The function of that module that returns the grammar."""
    files: tuple[str, ...] = ()
    """Names of files that are of this language whatever their ending."""
    plainly: Callable[[bytes], Outline | None] | None = None
    """Gives the parser's outline of plainly written source in less time; None where only a parser can tell."""


def outline_without_parser(language: Language, source: bytes) -> Outline | None:
    """Outline what is too large, minified or plainly written; None where the parser is needed."""
    if len(source) > MAX_SOURCE or len(source) > MAX_LINE * (source.count(b"\n") + 1):
        return Outline(language.name)
    opened = source.count(b"/*")
    if opened > MAX_UNCLOSED and opened > source.count(b"*/") + MAX_UNCLOSED:
        return Outline(language.name)
    return language.plainly(source) if language.plainly else None
