"""A question about a repository, classified by rules, and the names that it contains."""

import re
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from nodes.search.issue.stacktraces import find_traces

Kind = Literal["trace", "owner", "changes", "where", "general"]
MAX_NAMES = 3
MAX_LENGTH = 20_000
"""Maximum characters of a question that are read; a trace may be long."""
_OWNER = re.compile(
    r"\bwho\b.{0,40}\b(?:owns?|knows?|maintains?|wrote|responsible|reviews?|ask)\b"
    r"|\b(?:owners?|maintainers?)\b.{0,20}\bof\b",
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
# In order of precedence: the first match wins.
_KINDS: tuple[tuple[Kind, re.Pattern[str]], ...] = (("owner", _OWNER), ("changes", _CHANGES), ("where", _WHERE))
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


@dataclass(frozen=True, slots=True)
class Question:
    """A question and its classification."""

    text: str
    kind: Kind
    names: tuple[str, ...] = ()
    """Names of symbols as spelled in code, at most three."""
    plain: tuple[str, ...] = ()
    """Plain words in the position of a symbol; ordinary words if the commit does not define them."""


def understand(text: str) -> Question:
    """Classify a question by rules. A stack trace in it takes precedence over its words."""
    text = text[:MAX_LENGTH]
    line = " ".join(text.split())[:2_000]
    names = tuple(dict.fromkeys((found[1] or found[2]).removesuffix("()") for found in _NAME.finditer(text)))[
        :MAX_NAMES
    ]
    words = (next(filter(None, found.groups())) for found in islice(_PLAIN_NAME.finditer(line), MAX_NAMES))
    plain = tuple(word for word in words if word.lower() not in _PRONOUNS and word not in names)
    kinds = (kind for kind, pattern in _KINDS if pattern.search(line))
    return Question(text, "trace" if find_traces(text) else next(kinds, "general"), names, plain)
