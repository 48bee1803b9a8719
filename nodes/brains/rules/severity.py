"""Estimate the severity with the sentence that supports it, and detect issues without content."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from nodes.issue.facts import IssueFacts
from nodes.report import Kind, Severity
from nodes.search.issue.mentions import split_fields
from nodes.search.types import StackTrace

_MAX_TITLE, _MAX_PROSE, _MAX_QUOTED = 1_000, 20_000, 160


class Badness(NamedTuple):
    """A sign of severity, with words for the reader."""

    severity: Severity
    words: str
    pattern: re.Pattern[str]


def _sign(severity: Severity, words: str, pattern: str) -> Badness:
    return Badness(severity, words, re.compile(pattern, re.IGNORECASE))


_CRASH = "a crash of the whole process"
_SIGNS = (
    _sign(
        "high", "data that is lost or damaged", r"\bdata loss\b|\bcorrupt(s|ed|ion|ing)?\b|\bloses? (all )?(my )?data\b"
    ),
    _sign("high", _CRASH, r"\bseg(?:mentation )?faults?\b|\bSIG(SEGV|ABRT|BUS|ILL)\b"),
    _sign("high", "a hang", r"\bhangs?\b|\bdeadlocks?\b|\binfinite (loop|recursion)\b|\bfreez(es|ing)?\b|\bfroze\b"),
    _sign("high", "memory that runs out or leaks", r"\bout of memory\b|\bOOM\b|\bmemory leaks?\b"),
    _sign("low", "appearance or wording", r"\btypos?\b|\bcosmetic\b|\bmisalign|\bwording\b|\bspelling\b"),
)


# "Crash" and "panic" alone are no sign: most reports call an exception so, and many programs recover from one.
_ENDS = re.compile(
    r"\b(?:SEGV|SIG[A-Z]{3,6})\b|[Ff]atal|(?:Address|Memory|Thread)Sanitizer|OutOfMemory|[a-z]-overflow\b"
)
"""The error of a stack trace that ends the whole process."""
_RECOVERED = re.compile(r"\brecovered\b", re.IGNORECASE)
_SENTENCE = re.compile(r"(?:[^.!?\n]|[.!?](?=[^\s.!?])|(?<=\bi\.e)\.|(?<=\be\.g)\.){1,400}")
"""A sentence; a full stop inside a name, a number or an abbreviation does not end it."""
_NEGATED = re.compile(
    r"\b(?:no|not|never|without|instead of|avoid\w*|prevent\w*|if it|recover(?:ed|s|y)?)\b|n't\b", re.IGNORECASE
)


def severity_of(title: str, body: str, kind: Kind, traces: Sequence[StackTrace] = ()) -> tuple[Severity, str]:
    """Return the severity and the trace or sentence that supports it; only a person assigns the top level.

    Else only prose counts, without exclamations: code and logs mention hangs that the issue is not about.
    """
    if kind not in ("bug", "security"):
        return "unknown", ""
    for trace in traces:
        error = trace.error or ""
        if _ENDS.search(error) and not _RECOVERED.search(f"{error} {trace.message}"):
            return "high", f"The report mentions {_CRASH}: “{error[:_MAX_QUOTED]}”."
    prose, _code = split_fields(body[:_MAX_PROSE])
    text = f"{title[:_MAX_TITLE]}\n{prose}"
    for found in _SENTENCE.finditer(text):
        # A line break after a link leaves its punctuation at the beginning.
        phrase = " ".join(found[0].split()).lstrip(")]},;: ")
        sign = next((sign for sign in _SIGNS if sign.pattern.search(phrase)), None)
        if sign is not None and not _NEGATED.search(phrase) and text[found.end() : found.end() + 1] != "!":
            quoted = f": “{phrase}”" if len(phrase) <= _MAX_QUOTED else ""
            return sign.severity, f"The report mentions {sign.words}{quoted}."
    return "unknown", ""


def says_nothing(facts: IssueFacts) -> bool:
    """Return whether the issue contains neither words nor names to search for."""
    return not (facts.words or facts.code_blocks or facts.traces or facts.symbols or facts.paths)
