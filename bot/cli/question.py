"""Classify a question about the code by rules."""

import re
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal

from nodes.search.issue.stacktraces.families import find_traces
from nodes.search.tokens import load_sections

Kind = Literal["trace", "owner", "changes", "where", "general"]
MAX_NAMES = 3
MAX_LENGTH = 20_000
"""Maximum characters of a question that are read; a trace may be long."""
_FORMS = {
    name: re.compile("|".join(forms), re.IGNORECASE)
    for name, forms in load_sections(Path(__file__).with_name("question.txt")).items()
}
# In order of precedence: the first match wins.
_KINDS: tuple[Kind, ...] = ("owner", "changes", "where")
_PLAIN_NAME = _FORMS["name"]
"""A position in which a question names a symbol without marking it; the name counts only if the commit defines it."""
_PRONOUNS = frozenset(["it", "its", "this", "that", "these", "those", "there", "the", "our", "your", "which", "what"])
_WRITTEN_NAME = re.compile(
    r"`([^`\n]{1,120})`|\b([A-Za-z_]\w*(?:(?:\.|::)\w+)+|[A-Za-z]*_\w+|[a-z]+[A-Z]\w*|[A-Za-z_]\w*(?=\(\)))"
)


@dataclass(frozen=True, slots=True)
class ClassifiedQuestion:
    """A question and its classification."""

    text: str
    kind: Kind
    names: tuple[str, ...] = ()
    """Names of symbols as spelled in code, at most three."""
    plain: tuple[str, ...] = ()
    """Plain words in the position of a symbol; ordinary words if the commit does not define them."""


def understand(text: str) -> ClassifiedQuestion:
    """Classify a question by rules. A stack trace in it takes precedence over its words."""
    text = text[:MAX_LENGTH]
    line = " ".join(text.split())[:2_000]
    written = ((found[1] or found[2]).removesuffix("()") for found in _WRITTEN_NAME.finditer(text))
    names = tuple(dict.fromkeys(written))[:MAX_NAMES]
    words = (next(filter(None, found.groups())) for found in islice(_PLAIN_NAME.finditer(line), MAX_NAMES))
    plain = tuple(word for word in words if word.lower() not in _PRONOUNS and word not in names)
    kinds = (kind for kind in _KINDS if _FORMS[kind].search(line))
    return ClassifiedQuestion(text, "trace" if find_traces(text) else next(kinds, "general"), names, plain)
