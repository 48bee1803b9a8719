"""Classify a question about a repository by rules."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from nodes.search.issue.stacktraces import find_traces

Kind = Literal["trace", "owner", "changes", "where", "general"]
_OWNER = re.compile(
    r"\bwho\b.{0,40}\b(?:owns?|knows?|maintains?|wrote|responsible|reviews?|ask)\b|\b(?:owners?|maintainers?)\b.{0,20}\bof\b",
    re.IGNORECASE,
)
_CHANGES = re.compile(
    r"\b(?:what|when|who|why)\b.{0,40}\b(?:changed?|changes|broke|introduced|touched|added|removed)\b"
    r"|\b(?:recent|last|latest)\s{1,3}(?:changes?|commits?)\b|\bhistory\s{1,3}of\b",
    re.IGNORECASE,
)
_WHERE = re.compile(
    r"\b(?:where|which\s{1,3}(?:file|function|class|module)s?)\b|\b(?:find|locate|show)\b"
    r"|\b(?:defined|definition|usages?|callers?|uses|calls)\b",
    re.IGNORECASE,
)
_USES = re.compile(r"\b(?:uses?|used|usages?|callers?|calls?|called|references?)\b", re.IGNORECASE)
_CALLS = re.compile(r"\b(?:callers?|calls?|called)\b", re.IGNORECASE)
_PLAIN_NAME = re.compile(
    r"\b(?:who|what)\s{1,3}(?:calls|uses)\s{1,3}(?:the\s{1,3})?(?P<used>[A-Za-z_]\w{1,80})\b"
    r"|\b(?:callers?|calls?|uses?|usages?|definitions?|history)\s{1,3}(?:of|to)\s{1,3}(?:the\s{1,3})?(?P<of>[A-Za-z_]\w{1,80})\b"
    r"|\b(?:function|class|method|struct|trait|interface|constant|variable|setting|macro)\s{1,3}(?P<kind>[A-Za-z_]\w{1,80})\b"
    r"|\b(?:is|are|does|do|was|where's)\s{1,3}(?:the\s{1,3})?(?P<state>[A-Za-z_]\w{0,80})\s{1,3}"
    r"(?:defined|declared|implemented|called|used|read|set|changed|added|come)\b"
    r"|\bwhere(?:\s{1,3}(?:is|are)|'s)\s{1,3}(?P<alone>[A-Za-z_]\w{1,80})\s{0,3}\??$"
    r"|\bchanged\s{1,3}in\s{1,3}(?P<changed>[A-Za-z_]\w{1,80})\b",
    re.IGNORECASE,
)
"""A position in which a question names a symbol without marking it; the name counts only if the commit defines it."""
_PRONOUNS = frozenset(["it", "its", "this", "that", "these", "those", "there", "the", "our", "your", "which", "what"])
_NAME = re.compile(
    r"`([^`\n]{1,120})`|\b([A-Za-z_]\w*(?:(?:\.|::)\w+)+|[A-Za-z]*_\w+|[a-z]+[A-Z]\w*|[A-Za-z_]\w*(?=\(\)))"
)
MAX_NAMES = 3
MAX_LENGTH = 20_000
"""Maximum characters of a question that are read; a trace may be long."""
# In order of precedence: the first match wins.
_PATTERNS: tuple[tuple[re.Pattern[str], Kind], ...] = ((_OWNER, "owner"), (_CHANGES, "changes"), (_WHERE, "where"))


@dataclass(frozen=True, slots=True)
class Question:
    """A question and its classification."""

    text: str
    kind: Kind
    names: tuple[str, ...] = ()
    """Names of symbols as spelled in code, at most three."""
    uses: bool = False
    """Whether the question asks for uses instead of definitions."""
    calls: bool = False
    """Whether it asks for calls only."""
    plain: tuple[str, ...] = ()
    """Plain words in the position of a symbol; ordinary words if the commit does not define them."""


def understand(text: str) -> Question:
    """Classify a question. A stack trace in it takes precedence over its words."""
    text = text[:MAX_LENGTH]
    named = ((found[1] or found[2]).removesuffix("()") for found in _NAME.finditer(text))
    names = tuple(dict.fromkeys(named))[:MAX_NAMES]
    uses, calls = _USES.search(text) is not None, _CALLS.search(text) is not None
    return Question(text, _kind(text), names, uses, calls, tuple(_plain_names(text, names)))


def _plain_names(text: str, known: tuple[str, ...]) -> Iterator[str]:
    line = " ".join(text.split())[:2_000]
    for found in islice(_PLAIN_NAME.finditer(line), MAX_NAMES):
        name = next(filter(None, found.groups()))
        if name.lower() not in _PRONOUNS and name not in known:
            yield name


def _kind(text: str) -> Kind:
    if find_traces(text):
        return "trace"
    line = " ".join(text.split())[:2_000]
    for pattern, kind in _PATTERNS:
        if pattern.search(line):
            return kind
    return "general"
