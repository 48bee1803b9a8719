"""Classify a question about a repository by rules: its wording chooses what answers it (seed 003)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from nodes.search.stacktraces import find_traces

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
_USES = re.compile(r"\b(?:uses?|used|usages?|callers?|calls|called|references?)\b", re.IGNORECASE)
_NAME = re.compile(
    r"`([^`\n]{1,120})`|\b([A-Za-z_]\w*(?:(?:\.|::)\w+)+|[A-Za-z]*_\w+|[a-z]+[A-Z]\w*|[A-Za-z_]\w*(?=\(\)))"
)
MOST = 20_000
"""Characters of a question that are read; a trace may be long."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question and its classification."""

    text: str
    kind: Kind
    names: tuple[str, ...] = ()
    """Names of symbols as spelled in code, at most three."""
    uses: bool = False
    """Whether the question asks for uses instead of definitions."""


def understand(text: str) -> Question:
    """Classify a question. A stack trace in it outweighs its words."""
    text = text[:MOST]
    names = tuple(dict.fromkeys((found[1] or found[2]).removesuffix("()") for found in _NAME.finditer(text)))[:3]
    return Question(text, _kind(text), names, _USES.search(text) is not None)


def _kind(text: str) -> Kind:
    if find_traces(text):
        return "trace"
    line = " ".join(text.split())[:2_000]
    for pattern, kind in _PATTERNS:
        if pattern.search(line):
            return kind
    return "general"


# In order of precedence: the first match wins.
_PATTERNS: tuple[tuple[re.Pattern[str], Kind], ...] = ((_OWNER, "owner"), (_CHANGES, "changes"), (_WHERE, "where"))
