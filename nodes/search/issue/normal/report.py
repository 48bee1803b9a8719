"""Normalises a report: removes what logs, terminals and trackers add around what a program printed."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from nodes.search.issue.normal.escapes import escapes, stacks
from nodes.search.issue.normal.mapped import Edit, Mapped
from nodes.search.issue.normal.markup import boxes, colours, markup, plain_characters, quotes
from nodes.search.issue.normal.prefixes import prefixes, sorted_by_source
from nodes.search.issue.normal.wraps import joined, wrapped

MAX_TEXT = 200_000
"""Characters that are normalised; GitHub's longest body has 65,536."""
_MAX_PASSES = 6
"""Layers around a text: an escaped log line inside a log line of a container that somebody quoted."""
_STEPS: tuple[Callable[[str], list[Edit]], ...] = (
    *(plain_characters, colours, markup, quotes, boxes),
    *(stacks, escapes, prefixes, joined, wrapped),
)


# A run reads the same text for traces, facts, versions and fingerprints.
@lru_cache(maxsize=8)
def normalise(text: str) -> Mapped:
    """Return the text as the program printed it, with a map to the given text.

    Each step runs until none changes the text. Text that only might be a prefix or an escape changes only if it reads
    as a trace then.
    """
    report = Mapped(text)
    if len(text) > MAX_TEXT:
        return report
    for _ in range(_MAX_PASSES):
        before = report
        report = sorted_by_source(report)
        for step in _STEPS:
            if edits := step(report.text):
                report = report.edited(edits)
        if report is before:
            break
    return report


def as_written(words: str, given: str) -> str:
    """Return the reporter's characters for words of the normalised text, which differ from them in more than space.

    Args:
        words: a part of the normalised text, perhaps with other white space.
        given: the text as the reporter wrote it.
    """
    report = normalise(given)
    parts = words.split()
    pattern = re.compile(r"\s+".join(map(re.escape, parts)), re.IGNORECASE)
    if not parts or report.starts is None or pattern.search(given):
        return words
    found = pattern.search(report.text)
    if found is None:
        return words
    start, end = report.span(*found.span())
    return given[start:end]


def as_printed(words: str, given: str) -> str:
    """Return the normalised form of words that the reporter wrote; the opposite of ``as_written``."""
    report = normalise(given)
    start = given.find(words)
    if report.starts is None or start < 0:
        return words
    plain = report.text[report.position(start) : report.position(start + len(words))]
    return plain if plain.strip() else words
