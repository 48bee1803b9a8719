"""How bad it is, with the sentence that says why, and whether there is anything to judge by."""

from __future__ import annotations

import re
from typing import NamedTuple

from nodes.facts import IssueFacts
from nodes.report import Kind, Severity
from nodes.search.mentions import split_fields

_MAX_TITLE, _MAX_PROSE, _MOST_QUOTED = 1_000, 20_000, 160


class Badness(NamedTuple):
    """A sign of how much harm is done, in words for the reader."""

    severity: Severity
    words: str
    pattern: re.Pattern[str]


def _bad(severity: Severity, words: str, pattern: str) -> Badness:
    return Badness(severity, words, re.compile(pattern, re.IGNORECASE))


_BADNESS = (
    _bad(
        "high", "data that is lost or damaged", r"\bdata loss\b|\bcorrupt(s|ed|ion|ing)?\b|\bloses? (all )?(my )?data\b"
    ),
    _bad(
        "high",
        "a crash of the whole process",
        r"\bsegfault\b|\bSIG(SEGV|ABRT)\b|\bcrash(es|ed|ing)?\b|\bpanic(s|ked)?\b",
    ),
    _bad("high", "a hang", r"\bhangs?\b|\bdeadlocks?\b|\binfinite (loop|recursion)\b|\bfreez(es|ing)?\b|\bfroze\b"),
    _bad("high", "memory that runs out", r"\bout of memory\b|\bOOM\b|\bmemory leaks?\b"),
    _bad("low", "appearance or wording", r"\btypos?\b|\bcosmetic\b|\bmisalign|\bwording\b|\bspelling\b"),
)


_SENTENCE = re.compile(r"[^.!?\n]{1,400}")
_DENIED = re.compile(r"\b(?:no|not|never|without|instead of|avoid\w*|prevent\w*|if it)\b|n't\b", re.IGNORECASE)


def severity_of(title: str, body: str, kind: Kind) -> tuple[Severity, str]:
    """How bad it is, and the reporter's own sentence that says so; the top level is a person's to give.

    Only prose counts: code, logs and traces name crashes and hangs that nobody reports.
    """
    if kind not in ("bug", "security"):
        return "unknown", ""
    prose, _code = split_fields(body[:_MAX_PROSE])
    for found in _SENTENCE.finditer(f"{title[:_MAX_TITLE]}\n{prose}"):
        phrase = " ".join(found[0].split())
        sign = next((sign for sign in _BADNESS if sign.pattern.search(phrase)), None)
        if sign is not None and not _DENIED.search(phrase):
            quoted = f": “{phrase}”" if len(phrase) <= _MOST_QUOTED else ""
            return sign.severity, f"The report mentions {sign.words}{quoted}."
    return "unknown", ""


def says_nothing(facts: IssueFacts) -> bool:
    """Is there neither a word nor a name to search by?"""
    return not (facts.words or facts.code_blocks or facts.traces or facts.symbols or facts.paths)
