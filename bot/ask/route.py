"""Classify a question about a repository by rules: its wording chooses what answers it (seed 003)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from bot.ask.since import Since, read_since
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
_USES = re.compile(r"\b(?:uses?|used|usages?|callers?|calls?|called|references?)\b", re.IGNORECASE)
_CALLS = re.compile(r"\b(?:callers?|calls?|called)\b", re.IGNORECASE)
_PLAIN_NAME = re.compile(
    r"\b(?:who|what)\s{1,3}(?:calls|uses)\s{1,3}(?:the\s{1,3})?(?P<used>[A-Za-z_]\w{1,80})\b"
    r"|\b(?:callers?|calls?|uses?|usages?|definitions?|history)\s{1,3}(?:of|to)\s{1,3}(?:the\s{1,3})?(?P<of>[A-Za-z_]\w{1,80})\b"
    r"|\b(?:function|class|method|struct|trait|interface|constant|variable|setting|macro)\s{1,3}(?P<kind>[A-Za-z_]\w{1,80})\b"
    r"|\b(?:is|are|does|do|was|where's)\s{1,3}(?:the\s{1,3})?(?P<state>[A-Za-z_]\w{1,80})\s{1,3}"
    r"(?:defined|declared|implemented|called|used|read|set|changed|added|come)\b"
    r"|\bwhere(?:\s{1,3}(?:is|are)|'s)\s{1,3}(?P<alone>[A-Za-z_]\w{1,80})\s{0,3}\??$"
    r"|\bchanged\s{1,3}in\s{1,3}(?P<changed>[A-Za-z_]\w{1,80})\b",
    re.IGNORECASE,
)
"""Where a question names a symbol without marking it; it counts only if the commit defines it."""
_TOPIC = re.compile(
    r"\b(?:chang(?:ed?|es)|commits?|touched|happened)\s{1,3}(?:in|to|of|on|with|at)\s{1,3}"
    r"(?!(?:this|the)\s{1,3}(?:repo\w*|project|code)\b)(?:the\s{1,3})?(?P<topic>`[^`]{1,120}`|[^?,!]{2,200})",
    re.IGNORECASE,
)
_PRONOUNS = frozenset(["it", "its", "this", "that", "these", "those", "there", "the", "our", "your", "which", "what"])
_NAME = re.compile(
    r"`([^`\n]{1,120})`|\b([A-Za-z_]\w*(?:(?:\.|::)\w+)+|[A-Za-z]*_\w+|[a-z]+[A-Z]\w*|[A-Za-z_]\w*(?=\(\)))"
)
MOST_NAMES = 3
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
    calls: bool = False
    """Whether it asks for calls only."""
    plain: tuple[str, ...] = ()
    """Plain words that stand where a symbol would; ordinary words if the commit does not define them."""
    since: Since | None = None
    """The stretch of time that it asks about."""
    topic: str = ""
    """What a question about changes asks of, in its own words; empty if it asks of everything."""


def understand(text: str) -> Question:
    """Classify a question. A stack trace in it outweighs its words."""
    text = text[:MOST]
    named = ((found[1] or found[2]).removesuffix("()") for found in _NAME.finditer(text))
    names = tuple(dict.fromkeys(named))[:MOST_NAMES]
    uses, calls = _USES.search(text) is not None, _CALLS.search(text) is not None
    since = read_since(text)
    plain = tuple(_plain_names(text, names))
    return Question(text, _kind(text), names, uses, calls, plain, since, _topic(text, since))


def _topic(text: str, since: Since | None) -> str:
    line = " ".join(text.replace(since.words if since else "", " ").split())[:2_000]
    found = _TOPIC.search(line)
    return found["topic"].strip(" `") if found else ""


def _plain_names(text: str, known: tuple[str, ...]) -> Iterator[str]:
    line = " ".join(text.split())[:2_000]
    for found in islice(_PLAIN_NAME.finditer(line), MOST_NAMES):
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


# In order of precedence: the first match wins.
_PATTERNS: tuple[tuple[re.Pattern[str], Kind], ...] = ((_OWNER, "owner"), (_CHANGES, "changes"), (_WHERE, "where"))
