"""Kind and severity of an issue, by cues that can be named."""

from __future__ import annotations

import re
from collections.abc import Mapping

from nodes.facts import IssueFacts
from nodes.report import Kind, Severity

_TITLE_WEIGHT = 3
_CUES: Mapping[Kind, re.Pattern[str]] = {
    "security": re.compile(
        r"\b(vulnerabilit(?:y|ies)|CVE-\d{4}-\d+|remote code execution|sql injection|xss|csrf bypass|path traversal|"
        r"privilege escalation|security (?:hole|flaw|issue))\b",
        re.IGNORECASE,
    ),
    "feature": re.compile(
        r"\b(feature request|feature proposal|enhancement|would be (?:nice|great|useful|helpful)|please add|"
        r"add support for|it'd be nice|proposal|wish ?list|new option)\b",
        re.IGNORECASE,
    ),
    "question": re.compile(
        r"\b(how (?:do|can|should|would) (?:i|we|you)|is (?:it|there) (?:possible|a way)|what is the (?:best|right) way|"
        r"any (?:idea|advice|suggestions)|i(?:'m| am) (?:wondering|not sure how)|question)\b",
        re.IGNORECASE,
    ),
    "docs": re.compile(
        r"\b(documentation|docs?|docstring|readme|tutorial|typo|misspell(?:ed|ing)?|broken link|changelog)\b",
        re.IGNORECASE,
    ),
    "bug": re.compile(
        r"\b(bug|error|exception|crash(?:es|ed)?|fail(?:s|ed|ure|ing)?|broken|wrong(?:ly)?|incorrect(?:ly)?|regression|"
        r"traceback|unexpected(?:ly)?|does(?:n't| not) work|expected (?:behaviou?r|result|output)|actual|hangs?|"
        r"segfault|panics?|raises?|should (?:not|be|return|have)|instead of)\b",
        re.IGNORECASE,
    ),
}
_SPAM = re.compile(r"\b(buy now|free money|casino|click here|earn \$|seo service)\b", re.IGNORECASE)
_MAX_TEXT = 20_000

_SEVERITIES: tuple[tuple[Severity, re.Pattern[str], str], ...] = (
    (
        "high",
        re.compile(
            r"\b(data loss|lost data|corrupt(?:s|ed|ion)?|crash(?:es|ed)?|segfault|segmentation fault|hangs?|deadlock|"
            r"infinite loop|memory leak|out of memory|cannot (?:start|install|log ?in|upgrade))\b",
            re.IGNORECASE,
        ),
        "the issue speaks of “{}”",
    ),
    (
        "low",
        re.compile(r"\b(typo|cosmetic|misspell(?:ed|ing)?|minor|nitpick|deprecat(?:ed|ion) ?warning)\b", re.IGNORECASE),
        "the issue speaks of “{}”",
    ),
)


def kind_of(title: str, body: str, facts: IssueFacts) -> Kind:
    """What the issue is; a bug unless something else is clearly said, since a bug missed costs the most."""
    text = body[:_MAX_TEXT]
    if _SPAM.search(title) or (_SPAM.search(text) and not facts.code_blocks):
        return "spam"
    if _CUES["security"].search(title):
        return "security"
    if facts.traces:
        return "bug"
    scores: dict[Kind, int] = {kind: _score(cue, title, text) for kind, cue in _CUES.items() if kind != "security"}
    if facts.errors or facts.code_blocks:
        scores["bug"] += 2
    best: Kind = max(scores, key=lambda kind: (scores[kind], kind == "bug"))
    return best if scores[best] >= _TITLE_WEIGHT and scores[best] > scores["bug"] + 1 else "bug"


def _score(cue: re.Pattern[str], title: str, body: str) -> int:
    return _TITLE_WEIGHT * bool(cue.search(title)) + min(2, len({found.lower() for found in cue.findall(body)}))


def severity_of(title: str, body: str, facts: IssueFacts, kind: Kind) -> tuple[Severity, str]:
    """How bad it is and why; the top level is a person's to give."""
    if kind != "bug":
        return "unknown", ""
    text = f"{title}\n{body[:_MAX_TEXT]}"
    for severity, cue, reason in _SEVERITIES:
        found = cue.search(text)
        if found:
            return severity, reason.format(found[0].lower())
    if facts.traces:
        error = facts.traces[0].error or "an error"
        return "medium", f"it ends in {error}, with no sign of lost data"[:300]
    if facts.errors:
        return "medium", "it ends in an error message, with no sign of lost data"
    return "medium", "a wrong result, with no sign of a crash or of lost data"
