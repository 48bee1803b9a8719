"""Parse CODEOWNERS by GitHub's rules, which differ from those of ``.gitignore``."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

FILES = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS")
"""The paths in the order in which GitHub looks; only the first that exists is used."""
LARGEST = 3_000_000
"""Bytes; GitHub does not load a larger file either."""
MOST_RULES = 20_000
_OWNER = re.compile(r"@[A-Za-z0-9][A-Za-z0-9_-]{0,99}(?:/[A-Za-z0-9._-]{1,100})?|[^\s@]{1,100}@[^\s@]{1,200}")
_FIELD = re.compile(r"(?:\\.|[^\s\\]|\\$)+")

T = TypeVar("T")
S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class Rule:
    """One line: a pattern and the owners of what it matches."""

    pattern: str
    """As written, with escapes resolved."""
    owners: tuple[str, ...]
    """Users and teams with ``@``, or email addresses; empty if the line removes owners."""
    line: int
    """1-based."""
    _segments: tuple[str, ...] = ()

    def matches(self, path: str) -> bool:
        """Return whether the rule matches a path of the repository."""
        return matches(self._segments, path)


def parse_codeowners(text: str) -> tuple[Rule, ...]:
    """Parse a CODEOWNERS file; as on GitHub, an invalid line is skipped."""
    rules: list[Rule] = []
    for number, raw in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        rule = _rule(raw[:2_000], number)
        if rule is not None:
            rules.append(rule)
        if len(rules) >= MOST_RULES:
            break
    return tuple(rules)


def owners_of(rules: Sequence[Rule], path: str) -> Rule | None:
    """Return the rule that decides for a path, which is the last that matches; it may have no owners."""
    return next((rule for rule in reversed(rules) if rule.matches(path)), None)


def segments_of(pattern: str) -> tuple[str, ...]:
    """Split a pattern at its slashes into explicit segments: ``docs/`` becomes ``**``, ``docs``, ``**``, ``*``."""
    parts = pattern.split("/")
    if parts[0] == "":
        parts = parts[1:]  # a leading slash anchors the pattern to the root
    elif len(parts) == 1 or (len(parts) == 2 and parts[1] == ""):
        parts = ["**", *parts]  # without a slash in the middle, the pattern matches at any depth
    if parts[-1] in ("", "**"):
        parts = [*parts[:-1], "**", "*"]  # a folder matches all its content, but no file of that name
    return tuple(parts)


def matches(segments: Sequence[str], path: str) -> bool:
    """Return whether a path matches. A folder matches all its content, but ``docs/*`` only its direct content."""
    parts = path.split("/")
    if not segments:
        return False
    below = segments[-1] not in ("*", "**")
    return _glob(segments, parts, "**", _fits) or (below and _glob((*segments, "**"), parts, "**", _fits))


def _fits(segment: str, part: str) -> bool:
    return _glob(segment, part, "*", lambda one, other: one in ("?", other))


def _glob(pattern: Sequence[S], items: Sequence[T], star: object, fits: Callable[[S, T], bool]) -> bool:
    """Match a sequence against a pattern in which ``star`` matches any run, in at most the product of both lengths."""
    at = place = 0
    after_star, retry = -1, 0
    while place < len(items):
        if at < len(pattern) and pattern[at] == star:
            after_star, retry = at + 1, place
            at += 1
        elif at < len(pattern) and fits(pattern[at], items[place]):
            at, place = at + 1, place + 1
        elif after_star >= 0:
            retry += 1
            at, place = after_star, retry
        else:
            return False
    return all(part == star for part in pattern[at:])


def _rule(raw: str, number: int) -> Rule | None:
    fields = _FIELD.findall(raw)
    if not fields or fields[0].startswith(("#", "!", "\\#")) or "[" in fields[0] or "]" in fields[0]:
        return None  # GitHub supports neither negation nor character ranges, nor an escaped hash
    owners: list[str] = []
    for field in fields[1:]:
        if field.startswith("#"):
            break
        if not _OWNER.fullmatch(field):
            return None
        owners.append(field)
    pattern = re.sub(r"\\(.)", r"\1", fields[0])
    if not pattern.strip("/"):
        return None
    return Rule(pattern, tuple(owners), number, segments_of(pattern))
