"""The questions that an issue asks, and which facts answer them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from nodes.search.facts import Fact
from nodes.search.facts.types import Kind
from nodes.search.issue.normal.evidence import outside_fences
from nodes.search.lazy import lazy
from nodes.search.tokens import load_sections

MAX_ISSUE_TEXT = 20_000
"""Characters of an issue that are read."""
MAX_QUESTIONS = 5
"""Maximum number of questions of one issue."""
_LONGEST_SENTENCE = 400
_NOT_ASKED = lazy(r"<!--.{0,4000}?-->|^[ \t]{0,3}>[^\n]*|^(?: {4}|\t)[^\n]*", re.DOTALL | re.MULTILINE)
"""Comments, quoted lines and indented code."""
_BEGINS = lazy(r"(?:how|where|what|which|who|when|is\s{1,3}there)\b", re.IGNORECASE)
_ENDS = lazy(r"(?<=[?!.])\s|\n")
_ASKS = {
    name: lazy("|".join(forms), re.IGNORECASE)
    for name, forms in load_sections(Path(__file__).with_name("asked.txt")).items()
}
_CAN_BE_ASKED: tuple[tuple[re.Pattern[str], tuple[Kind, ...]], ...] = (
    (_ASKS["where"], ("defined_once",)),
    (_ASKS["how"], ("documented_here", "default_here", "read_here")),
    (_ASKS["what"], ("documented_here",)),
)
"""What a question can ask for, and the kinds of facts that state it."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One question, and the kinds of facts that would answer it."""

    sentence: str
    kinds: tuple[Kind, ...]


def questions(title: str, body: str) -> tuple[Asked, ...]:
    """Return the questions of an issue that facts can answer, in order; a title that begins like one needs no mark."""
    title = " ".join(title[:300].split())
    mark = "?" if _BEGINS.match(title) and not title.endswith("?") else ""
    outside = "\n".join(outside_fences(body[:MAX_ISSUE_TEXT]))
    text = f"{title}{mark}\n{_NOT_ASKED.sub(' ', outside)}"
    sentences = (item.strip() for item in _ENDS.split(text) if item.rstrip().endswith("?"))
    asked = (_asked(sentence) for sentence in sentences if len(sentence) <= _LONGEST_SENTENCE)
    return tuple(islice((item for item in asked if item.kinds), MAX_QUESTIONS))


def answers(fact: Fact, asked: Sequence[Asked]) -> bool:
    """Return whether a fact states what one of these questions asks about a name that it contains."""
    name = re.compile(rf"(?<![\w.-]){re.escape(fact.words or '')}(?![\w-])")
    return bool(fact.words) and any(fact.kind in item.kinds and name.search(item.sentence) for item in asked)


def _asked(sentence: str) -> Asked:
    kinds = (kind for pattern, kinds in _CAN_BE_ASKED if pattern.search(sentence) for kind in kinds)
    return Asked(sentence, tuple(dict.fromkeys(kinds)))
