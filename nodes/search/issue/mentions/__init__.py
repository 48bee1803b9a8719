"""Finds what an issue names outside its stack traces: paths, symbols, modules, messages, versions and code."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

from nodes.search.issue.mentions.markdown import (
    MAX_TEXT,
    form_fields,
    indented_blocks,
    split_blocks,
    split_fields,
    without_comments,
)
from nodes.search.issue.mentions.messages import find_messages
from nodes.search.issue.mentions.places import find_places, find_urls
from nodes.search.issue.mentions.symbols import find_modules, find_symbols
from nodes.search.issue.mentions.versions import find_platforms, find_versions

__all__ = ["MAX_EACH", "Mentions", "find_mentions", "form_fields", "split_fields"]

T = TypeVar("T")

MAX_EACH = 100
"""Maximum number of stored mentions per kind."""


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
    """Messages: the text after ``XError:`` or ``error:``, and quoted phrases of three words or more."""
    versions: tuple[str, ...] = ()
    """With the name that they belong to, if stated: ``Django 3.2``."""
    platforms: tuple[str, ...] = ()
    """Systems, browsers and runtimes, in lower case."""
    code_blocks: tuple[str, ...] = ()
    """The content of fenced and of indented blocks."""
    urls: tuple[str, ...] = ()


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
        urls=_first(find_urls(text)),
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
