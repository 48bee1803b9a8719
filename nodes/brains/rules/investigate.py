"""Determine an issue's kind, problem, hypothesis, severity and missing information."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from nodes.brains.rules.missing import main_trace, missing_from
from nodes.context.brain import Case
from nodes.issue.facts import IssueFacts
from nodes.issue.kinds.classify import classify
from nodes.judgements import Investigation
from nodes.report import Kind, Severity
from nodes.search.history.claims import names_a_range
from nodes.search.issue.located import reports_an_error
from nodes.search.issue.mentions.found import split_fields
from nodes.search.types import StackTrace

RATHER_A_BUG = 0.25
"""Minimum share of bug in bug and feature for treating a likely feature as a bug: 93 of 100 bugs reach it."""
MAY_BE_A_BUG = 0.1
"""Minimum probability for treating a likely question as a bug: a missed bug costs more than a search."""
UNLIKELY = 0.3
"""Below this probability, the report of a likely question that is treated as a bug states so."""
NOT_LIKELIER = 0.35
"""The minimum probability for an issue whose title names another kind."""
_NAMES_OTHER_KIND = re.compile(
    r"\W{0,3}(feature[ -]?requests?|features?|feat|rfe|enh|enhancement|proposal|question)\s{0,3}[\]):]", re.IGNORECASE
)
"""A title that begins with the name of another kind; see ``NOT_LIKELIER``."""
_BUG_FORM = re.compile(r"^ {0,3}(?:#{1,6}|\*\*) ?describe the bug\b", re.IGNORECASE | re.MULTILINE)
_MAX_TITLE, _MAX_PROSE, _MAX_QUOTED = 1_000, 20_000, 160

_ELSEWHERE = re.compile(r"(^|/)(site-packages|dist-packages|node_modules|vendor|gems|\.cargo)/|^<|lib/python\d")

_BY_KIND: dict[Kind, str] = {
    "feature": "The issue requests a new feature; no fault is described.",
    "question": "The issue asks how to use the program; no fault is described.",
    "spam": "The issue is not about this program.",
    "security": "The issue describes a vulnerability.",
}

_CRASH = "a crash of the whole process"
_SIGNS: dict[str, tuple[Severity, str]] = {
    r"\bdata loss\b|\bcorrupt(s|ed|ion|ing)?\b|\bloses? (all )?(my )?data\b": ("high", "data that is lost or damaged"),
    r"\bseg(?:mentation )?faults?\b|\bSIG(SEGV|ABRT|BUS|ILL)\b": ("high", _CRASH),
    r"\bhangs?\b(?! (?:off|on ?to|from)\b)|\bfreez(es|ing)?\b|\bfroze\b": ("high", "a hang"),
    r"\bdeadlocks?\b|\binfinite (loop|recursion)\b": ("high", "a hang"),
    r"\bout of memory\b|\bOOM\b|\bmemory leaks?\b": ("high", "memory that runs out or leaks"),
    r"\btypos?\b|\bcosmetic\b|\bmisalign|(?<!edit: )\bwording\b|\bspelling\b": ("low", "appearance or wording"),
}
"""The severity of what a sentence mentions, and its name, by the words for it."""
# "Crash" and "panic" alone do not count: most reports call an exception so, and many programs recover from one.
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


class Taken(NamedTuple):
    """The kind that a run acts on, and the more likely kind if it differs."""

    kind: Kind
    rather: Kind | None = None


def acting_kind(title: str, body: str, facts: IssueFacts) -> Taken:
    """Return the kind that a run acts on.

    An issue with a stack trace is a bug, unless it is a security report, and so is one with a compiler's error or one
    that says which version worked and which failed, unless its title calls it a request.
    """
    found = classify(title, body)
    if found.kind == "security":
        return Taken("security")
    # A trace is stronger than any wording, except a vulnerability, whose place must not be named in public.
    if facts.traces:
        return Taken("bug")
    if found.kind in ("docs", "spam"):
        return Taken(found.kind)
    bug, likeliest = found.shares["bug"], max(found.shares, key=lambda kind: found.shares[kind])
    named = _NAMES_OTHER_KIND.match(title)
    if named is not None and likeliest != "bug" and bug < NOT_LIKELIER:
        return Taken("question" if named[1].lower() == "question" else "feature")
    # Of 89 labelled issues that name such a pair, 7 are requests.
    if likeliest == "bug" or names_a_range(title, body) or reports_an_error(body):
        return Taken("bug")
    if likeliest == "feature":
        # Of ten development reports on a form for faults that the model took for requests, nine were faults.
        is_bug = found.bug_rather_than_feature >= RATHER_A_BUG or _BUG_FORM.search(body)
        taken = Taken("bug", "feature") if is_bug else Taken("feature")
    else:
        taken = Taken("bug", "question" if bug < UNLIKELY else None) if bug >= MAY_BE_A_BUG else Taken("question")
    return taken


def investigate(case: Case) -> Investigation:
    """State the problem, a hypothesis and what is missing."""
    facts = case.facts
    kind, rather = acting_kind(case.title, case.body, facts)
    severity, reason = severity_of(case.title, case.body, kind, facts.traces)
    # The first sign that applies decides; the numbers only order findings and are not calibrated.
    signs = ((main_trace(facts), 0.6), (facts.paths, 0.55), (facts.symbols, 0.45), (facts.errors, 0.4), (True, 0.2))
    return Investigation(
        problem=_problem(case, kind)[:300],
        hypothesis=_hypothesis(facts)[:300] if kind in ("bug", "docs") else "",
        missing=() if rather == "feature" else missing_from(case, kind),
        kind=kind,
        severity=severity,
        severity_reason=reason,
        confidence=next(value for sign, value in signs if sign),
    )


def is_third_party(facts: IssueFacts) -> bool:
    """Return whether the error was raised in a dependency's code."""
    trace = main_trace(facts)
    return trace is not None and bool(_ELSEWHERE.search(trace.frames[0].path))


def _problem(case: Case, kind: Kind) -> str:
    facts = case.facts
    if kind in _BY_KIND:
        return _BY_KIND[kind]
    trace, names = main_trace(facts), _quoted((facts.symbols or facts.paths or facts.modules)[:3])
    if trace is not None:
        return f"{trace.error or 'An error'} ends the operation; it passes through {_where(trace)}."
    if facts.errors or facts.traces:
        error = f"the message “{facts.errors[0][:160]}”" if facts.errors else facts.traces[-1].error or "an error"
        return f"The operation ends with {error}{f' around {names}' if names else ''}."
    if names:
        return f"{names} does not do what the reporter expects; no error message is given."
    return "The issue describes a fault in prose only: no code, name, error message or stack trace."


def _hypothesis(facts: IssueFacts) -> str:
    trace = main_trace(facts)
    if trace is not None:
        outside = " or in how it calls the library that raised the error" if is_third_party(facts) else ""
        return f"The fault is in {_where(trace)}{outside}, or in what calls it."
    if facts.paths:
        return f"The fault is in or near {_quoted(facts.paths[:3])}, named in the issue."
    if facts.symbols or facts.modules:
        return f"The fault is in what defines or uses {_quoted((*facts.symbols, *facts.modules)[:3])}."
    if facts.errors:
        return f"The fault is on the path to the code that prints “{facts.errors[0][:160]}”."
    return ""


def _where(trace: StackTrace) -> str:
    """Return the innermost frame that does not look like a dependency's code, in words."""
    own = (frame for frame in trace.frames if frame.path and not _ELSEWHERE.search(frame.path))
    frame = next(own, trace.frames[0])
    place = frame.path or frame.module or "a frame without a file"
    line = f" line {frame.line}" if frame.line else ""
    return f"`{place}`{line}" + (f" (`{frame.function}`)" if frame.function else "")


def _quoted(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name[:80]}`" for name in names)


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
        sign = next((sign for words, sign in _SIGNS.items() if re.search(words, phrase, re.IGNORECASE)), None)
        if sign is not None and not _NEGATED.search(phrase) and text[found.end() : found.end() + 1] != "!":
            quoted = f": “{phrase}”" if len(phrase) <= _MAX_QUOTED else ""
            return sign[0], f"The report mentions {sign[1]}{quoted}."
    return "unknown", ""
