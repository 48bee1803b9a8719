"""Find the issues that a commit's message says it closes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST = 20
"""The maximum number of references per message; a release's list of all its changes is not a fix."""
_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}"
_REFERENCE = re.compile(
    rf"(?:(?P<project>{_NAME}/{_NAME})?#|GH-|https?://[^\s/]{{1,100}}/(?P<page>{_NAME}/{_NAME})/issues/)"
    r"(?P<number>[1-9]\d{0,8})(?![\w-])",
    re.IGNORECASE,
)
_KEYWORD = re.compile(
    r"(?<![\w-])(?:fix(?:e[sd])?|close[sd]?|resolve[sd]?):?\s{1,3}(?:(?:the\s)?(?:issues?|bugs?|tickets?)\s{1,3})?",
    re.IGNORECASE,
)
"""GitHub's keywords for closing an issue, and words that people write between them and the number."""
_AND = re.compile(r"\s{0,3}(?:,|&|\band\b)\s{0,3}(?:and\s{1,3})?(?=[#Gh])", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![\w/&])(?:#|GH-)(?P<number>[1-9]\d{0,8})(?![\w-])", re.IGNORECASE)
_BESIDE = re.compile(
    r"(?:\b(?:refs?|references|see|relate[sd](?: to)?|part of|follow-?up (?:to|of|on)|cf\.?|after|from|since|like|"
    r"revert(?:s|ed)?|regression in|pull request|pr)):?\s{1,3}$",
    re.IGNORECASE,
)
"""Words before the number of an issue that this commit does not fix."""
_UNDONE = re.compile(r"^\s*(?:revert(?:ed|s)?\b|back(?:port|ed out)\b|merge (?:branch|remote|tag)\b)", re.IGNORECASE)
_PULL = re.compile(r"^merge pull request #\d{1,9}", re.IGNORECASE)
_REVERTS = re.compile(r"\bThis reverts commit ([0-9a-f]{40})\b")


@dataclass(frozen=True, slots=True)
class References:
    """Numbers in a message, each once, in order."""

    closes: tuple[int, ...] = ()
    """Numbers that the message says are fixed, closed or resolved."""
    names: tuple[int, ...] = ()
    """Numbers that the first line only mentions: issues, or the pull requests that contained the change."""


def references(message: str, project: str = "") -> References:
    """Read the issues that a message closes; of other projects, only ``project`` (owner/name) counts."""
    subject, _, _ = message.lstrip().partition("\n")
    if _UNDONE.match(subject):
        return References()
    closes = tuple(dict.fromkeys(_closed(message[:20_000], project.lower())))[:MOST]
    named = tuple(dict.fromkeys(_named(_PULL.sub("", subject[:500]))))
    return References(closes, tuple(number for number in named if number not in closes)[:MOST])


def reverted(message: str) -> tuple[str, ...]:
    """Return the full SHAs of the commits that a message says it reverts."""
    return tuple(_REVERTS.findall(message[:20_000]))


def _closed(message: str, project: str) -> Iterator[int]:
    for keyword in _KEYWORD.finditer(message):
        found = _REFERENCE.match(message, keyword.end())
        while found:
            other = (found["project"] or found["page"] or project).lower()
            if other == project or (found["page"] and not project):
                yield int(found["number"])
            comma = _AND.match(message, found.end())
            found = _REFERENCE.match(message, comma.end()) if comma else None


def _named(subject: str) -> Iterator[int]:
    for found in _NUMBER.finditer(subject):
        if not _BESIDE.search(subject[max(0, found.start() - 30) : found.start()]):
            yield int(found["number"])
