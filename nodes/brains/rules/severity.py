"""How bad it is, with the sentence that says why, and whether there is anything to judge by."""

from __future__ import annotations

import re
from typing import NamedTuple

from nodes.facts import IssueFacts
from nodes.report import Kind, Severity

_MAX_TITLE, _MAX_PROSE = 1_000, 20_000


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
    _bad(
        "high", "something that worked before", r"\bregression\b|\bused to work\b|\bworked (fine )?(in|before|until)\b"
    ),
    _bad("low", "appearance or wording", r"\btypos?\b|\bcosmetic\b|\bmisalign|\bwording\b|\bspelling\b"),
    _bad("low", "a warning", r"\b(deprecation )?warnings?\b"),
)


def severity_of(title: str, body: str, facts: IssueFacts, kind: Kind) -> tuple[Severity, str]:
    """How bad it is, and the sentence that says why; the top level is a person's to give."""
    if kind == "docs":
        return "low", "It concerns the documentation; no code misbehaves."
    if kind not in ("bug", "security"):
        return "unknown", ""
    said = f"{title[:_MAX_TITLE]}\n{body[:_MAX_PROSE]}"
    for sign in _BADNESS:
        if sign.pattern.search(said):
            return sign.severity, f"The report speaks of {sign.words}."
    if facts.traces:
        return "medium", f"The operation ends with {_error(facts)}."
    if facts.errors:
        return "medium", "The operation ends with an error message."
    return "unknown", "The report does not say what the fault costs its user."


def says_nothing(facts: IssueFacts) -> bool:
    """Is there neither a word nor a name to search by?"""
    return not (facts.words or facts.code_blocks or facts.traces or facts.symbols or facts.paths)


def _error(facts: IssueFacts) -> str:
    error = facts.traces[-1].error
    return f"`{error}`" if error else "a stack trace"
