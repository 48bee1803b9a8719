"""Reports of every kind, for tests of their texts."""

from __future__ import annotations

from dataclasses import replace

from nodes.report import CitationAudit, Evaluation, RelatedIssue, Suspect, SuspectChange, TriageReport
from nodes.search.facts import Fact

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


RAISED = Fact(
    "raised_here",
    "The stack trace passes through `Lexer.scan`; this line is its innermost frame in the project's own code.",
    words="while True:",
    path="parser/lexer.py",
    line=12,
    text="    while True:",
    symbol="Lexer.scan",
    strong=True,
    exact=True,
)
GUARDED = Fact(
    "guarded_by",
    "That line is reached only if `self.open` holds.",
    path="parser/lexer.py",
    line=10,
    text="def scan(text):",
    symbol="Lexer.scan",
    follows=("parser/lexer.py", 12),
)
DEFINED = Fact(
    "defined_once",
    "The only definition of `read` is in `parser/reader.py`.",
    words="read",
    path="parser/reader.py",
    line=10,
    text="def read(path):",
    symbol="read",
    count=1,
)
TESTED = Fact(
    "tested_here",
    "The test `test_scan` uses `scan`.",
    words="scan",
    path="tests/test_lexer.py",
    line=4,
    text="def test_scan():",
    symbol="test_scan",
)
FOUND = TriageReport(
    verdict=RAISED.says,
    statement="claim",
    facts=(RAISED, GUARDED, DEFINED, TESTED),
    headline=0,
    severity="high",
    severity_reason="The report speaks of a hang: “It hangs on an open quote”.",
    affected_versions=("lexer 2.4.1", "2.3.2"),
    platforms=("windows",),
    root_cause=f"{RAISED.says} The fix is probably in `parser/lexer.py`, in `Lexer.scan` [E1].",
    suspects=(
        suspect(facts=(0, 1), why=RAISED.says),
        suspect("parser/reader.py", 3, symbol="read", facts=(2,), why=DEFINED.says),
        suspect("parser/store.py", 0, symbol="save", evidence="", why=""),
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
    ruled_out=("`test_scan` in `tests/test_lexer.py`: a test, example or document, not code at fault [E4]",),
    how_to_confirm="Run the code from the report with a breakpoint at `parser/lexer.py:11`.",
    labels=("bug", "area: parser"),
    owner="alice",
    owner_reason="made 6 of the last 10 changes of `parser/lexer.py`",
    fingerprints=("0123456789abcdef",),
    confidence=0.78,
    tried=("Read the issue: 1 stack traces, 0 errors.", "Searched the code: 4 places strong enough to consider."),
    commit=SHA,
    repository="octo/parser",
    citation_audit=CitationAudit(citations=4, dropped=("no evidence cited: It is bad.",)),
    evaluation=Evaluation(overall_score=0.9),
)
WEAK = FOUND.model_copy(
    update={
        "verdict": "No checked fact ties this report to a line of the code.",
        "statement": "ranked",
        "facts": (),
        "headline": None,
        "suspects": tuple(one.model_copy(update={"facts": (), "why": ""}) for one in FOUND.suspects),
        "missing": ("The version it happens with",),
        "root_cause": None,
        "not_found": "only_weak_candidates",
        "confidence": 0.4,
    }
)
NOTHING = TriageReport(
    verdict="No checked fact ties this report to a line of the code.",
    not_found="no_candidates",
    tried=FOUND.tried,
    missing=("The whole error message or stack trace",),
    commit=SHA,
)
QUESTION_OPEN = WEAK.model_copy(
    update={
        "status": "needs_clarification",
        "missing": ("What exactly does the program print when it fails? Please paste the whole message.",),
        "requires_human_review": True,
        "review_message": "After 2 wider searches, confidence in the first place is 40%.",
    }
)
FEATURE = TriageReport(
    verdict="This is probably a feature request, so no cause was searched for.",
    kind="feature",
    not_found="not_a_bug_report",
    labels=("enhancement",),
    confidence=0.9,
)
SECURITY = FOUND.model_copy(update={"kind": "security"})
PLACELESS = FOUND.model_copy(update={"repository": "", "notes": ("Rules judged instead of the model: no answer",)})

SEVERAL = FOUND.model_copy(
    update={
        "verdict": RAISED.says,
        "statement": "facts",
        "facts": (RAISED, replace(DEFINED, strong=True)),
        "root_cause": None,
    }
)
FIRST_PLACE = WEAK.model_copy(
    update={
        "verdict": "The search ranks `parser/lexer.py` first; no checked fact supports this.",
        "statement": "first_place",
        "confidence": 0.9,
    }
)
POINTED = WEAK.model_copy(
    update={
        "verdict": "A maintainer said to look at `parser/store.py`.",
        "statement": "facts",
        "suspects": (suspect("parser/store.py", 2, symbol="save", pointed=True, why="a maintainer pointed here"),),
        "missing": (),
    }
)
THIN = TriageReport(
    verdict="The report has no code and no message, and names no file or function; so no place in the code is named.",
    not_found="text_too_short",
    missing=("What was done, what happened, and what was expected instead",),
    commit=SHA,
)
REPORTS = {
    "found": FOUND,
    "weak": WEAK,
    "nothing": NOTHING,
    "question_open": QUESTION_OPEN,
    "feature": FEATURE,
    "security": SECURITY,
    "without_address": PLACELESS,
    "several": SEVERAL,
    "first_place": FIRST_PLACE,
    "pointed": POINTED,
    "thin": THIN,
}
