"""Reports of every kind, for the texts that are made of them."""

from __future__ import annotations

from nodes.report import CitationAudit, Evaluation, RelatedIssue, Suspect, SuspectChange, TriageReport

SHA = "a1b2c3d4" * 5


def suspect(path: str = "parser/lexer.py", number: int = 1, **given) -> Suspect:
    quote = 'def scan(text):\n    """Read `one` string."""\n    while True:\n        advance()'
    values = {
        "path": path,
        "start_line": 10,
        "end_line": 13,
        "symbol": "Lexer.scan",
        "score": 1.0,
        "why": "on the reporter's stack trace at line 11; the report names `scan`",
        "evidence": f"E{number}",
        "quote": quote,
        "quote_start": 10,
        "quote_end": 13,
        "checked": True,
    }
    return Suspect(**{**values, **given})


FOUND = TriageReport(
    verdict="Likely in `parser/lexer.py` — `Lexer.scan`, which is on the reporter's stack trace.",
    severity="high",
    severity_reason="The report speaks of a hang.",
    affected_versions=("lexer 2.4.1", "2.3.2"),
    platforms=("windows",),
    root_cause="`KeyError` is probably raised in or through `Lexer.scan` in `parser/lexer.py` [E1, E2]. "
    "If the fault is not there, `read` in `parser/reader.py` comes next [E3].",
    suspects=(
        suspect(),
        suspect("parser/reader.py", 3, symbol="read", why="shares the report's words “quote”, “open”"),
    ),
    suspect_changes=(
        SuspectChange(
            sha="b" * 40,
            title="Speed up the lexer",
            why="touches L12 of `Lexer.scan`",
            within="in the range given, 2.3.2 → 2.4.1",
            basis="versions",
            author="Bob",
            day="2024-02-01",
            touches_place=True,
            evidence="E5",
            checked=True,
        ),
    ),
    related=(RelatedIssue(reference="#98", relation="related", why="the same frames"),),
    missing=("The version it happens with",),
    ruled_out=("`test_scan` in `tests/test_lexer.py`: a test, example or document, not code at fault [E4]",),
    how_to_confirm="Run the code from the report with a breakpoint at `parser/lexer.py:11`.",
    labels=("bug", "area: parser"),
    owner="alice",
    owner_reason="made 6 of the last 10 changes of `parser/lexer.py`",
    fingerprints=("0123456789abcdef",),
    confidence=0.78,
    tried=("Read the issue: 1 stack traces, 0 errors.", "Searched the code: 4 places strong enough to look at."),
    commit=SHA,
    repository="octo/parser",
    citation_audit=CitationAudit(citations=4, dropped=("no evidence cited: It is bad.",)),
    evaluation=Evaluation(overall_score=0.9),
)
WEAK = FOUND.model_copy(
    update={
        "verdict": "No cause claimed; the place to start reading is `parser/lexer.py` (`Lexer.scan`).",
        "root_cause": None,
        "not_found": "only_weak_candidates",
        "confidence": 0.4,
    }
)
NOTHING = TriageReport(
    verdict="I could not locate this in the code.",
    not_found="no_candidates",
    tried=FOUND.tried,
    missing=("The whole error message or stack trace", "The version it happens with"),
    commit=SHA,
)
QUESTION_OPEN = WEAK.model_copy(
    update={
        "status": "needs_clarification",
        "missing": ("Does it go wrong when exporting, or when importing?",),
        "requires_human_review": True,
        "review_message": "After 2 wider searches, confidence in the first place is 40%.",
    }
)
FEATURE = TriageReport(
    verdict="Reads as a feature request: it describes no fault, so no cause was looked for.",
    kind="feature",
    not_found="not_a_bug_report",
    labels=("enhancement",),
    confidence=0.9,
)
SECURITY = FOUND.model_copy(update={"kind": "security"})
PLACELESS = FOUND.model_copy(update={"repository": "", "notes": ("Rules judged instead of the model: no answer",)})

REPORTS = {
    "found": FOUND,
    "weak": WEAK,
    "nothing": NOTHING,
    "question_open": QUESTION_OPEN,
    "feature": FEATURE,
    "security": SECURITY,
    "without_address": PLACELESS,
}
