"""What kind of issue it is, and how bad: scored cues, each of them named."""

from __future__ import annotations

import re
from typing import NamedTuple

from nodes.facts import IssueFacts
from nodes.report import Kind, Severity

SURE = 3.0
"""An issue is taken for a bug unless another kind scores this much, and more than bug does."""
_MAX_TITLE, _MAX_PROSE = 1_000, 20_000


class Cue(NamedTuple):
    """A pattern and what it speaks for."""

    kind: Kind
    in_title: float
    in_body: float
    pattern: re.Pattern[str]


def _cue(kind: Kind, in_title: float, in_body: float, pattern: str) -> Cue:
    return Cue(kind, in_title, in_body, re.compile(pattern, re.IGNORECASE))


_CUES = (
    _cue("bug", 3, 1, r"^\W{0,3}bug\b|\bregression\b|\bcrash|\bsegfault|\bpanics?\b|\bhangs?\b|\bfreez|\bdeadlock"),
    _cue("bug", 3, 1, r"\berrors?\b|\bexceptions?\b|\btraceback\b|\bfail(s|ed|ing|ure)?\b|\bbroken\b|\bbreaks\b"),
    _cue("bug", 2, 1, r"\b(wrong|incorrect|unexpected|invalid|inconsistent)(ly)?\b|\bleaks?\b|\blost\b|\bmissing\b"),
    _cue("bug", 2, 1, r"\b(doesn'?t|does not|don'?t|isn'?t|is not|not|no longer) (work|get|be|respect|show|return)"),
    _cue("bug", 0, 1.5, r"\b(steps to reproduce|expected behaviou?r|actual behaviou?r|expected result|to reproduce)\b"),
    _cue("feature", 4, 1.5, r"\bfeature[- ]?request\b|\benhancement\b|^\W{0,3}(feature|feat|rfe|proposal|idea)\b"),
    _cue("feature", 2, 2, r"\bit (would|'d) be (nice|great|useful|helpful|good|handy)\b|\bwould love\b"),
    _cue("feature", 1, 2, r"\bdescribe the solution you'?d like\b|\bis your feature request related\b"),
    _cue("feature", 2.5, 0.5, r"^\W{0,3}(please )?(add|support|allow|implement|provide|introduce|consider)\b"),
    _cue("feature", 2, 0.5, r"\b(ability|option|possibility) to\b|\bsupport for\b"),
    _cue("question", 3, 1, r"^\W{0,3}(\[?question\]?\b|how (do|to|can|should|would)\b|is (it|there)\b|can (i|we)\b)"),
    _cue("question", 1.5, 0.5, r"\?\s*$"),
    _cue("question", 1, 1.5, r"\bi('m| am) (wondering|trying to understand|not sure)\b|\bany (advice|pointers)\b"),
    _cue("docs", 3, 1, r"\b(docs?|documentation|readme|docstring|typo|tutorial|changelog)\b"),
    _cue("spam", 1.5, 1.5, r"\b(casino|backlinks?|whatsapp|discount|loan|escorts?|betting|followers)\b"),
    _cue("spam", 1.5, 1.5, r"\b(buy now|click here|best price|limited offer|make money|earn \$|visit our)\b"),
    _cue(
        "security", 4, 2, r"\bvulnerabilit(y|ies)\b|\bsecurity (issue|hole|flaw|bug|report|advisory)\b|\bCVE-\d{4}-\d"
    ),
    _cue(
        "security", 4, 2, r"\b(remote|arbitrary) code execution\b|\bRCE\b|\bprivilege escalation\b|\bauth\w* bypass\b"
    ),
    _cue("security", 3, 2, r"\b(XSS|SSRF|SQL injection|path traversal|directory traversal|command injection)\b"),
)


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


def kind_of(title: str, body: str, facts: IssueFacts) -> Kind:
    """The kind that the cues speak for; where they do not, a bug, since a missed bug costs more than a search."""
    scores = kind_scores(title, body, facts)
    best = max(scores, key=lambda kind: (scores[kind], kind == "bug"))
    return best if scores[best] >= SURE and scores[best] > scores["bug"] else "bug"


def kind_scores(title: str, body: str, facts: IssueFacts) -> dict[Kind, float]:
    """What speaks for each kind."""
    scores: dict[Kind, float] = dict.fromkeys(("bug", "feature", "question", "docs", "spam", "security"), 0.0)
    title, prose = title[:_MAX_TITLE], body[:_MAX_PROSE]
    for cue in _CUES:
        scores[cue.kind] += cue.in_title * bool(cue.pattern.search(title))
        scores[cue.kind] += cue.in_body * bool(cue.pattern.search(prose))
    scores["bug"] += 3.0 * bool(facts.traces) + 1.0 * bool(facts.errors)
    if facts.code_blocks or facts.symbols or facts.traces:
        scores["spam"] = 0.0
    return scores


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
