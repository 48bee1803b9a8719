"""The sentences of a cause in a comment, each with the links of its evidence."""

from __future__ import annotations

from bot.report.comment.explained import cause
from bot.report.links import Links
from nodes.report import Citation, CitationAudit, Evaluation, TriageReport


def test_evidence_without_an_address_leaves_no_gap() -> None:
    """An answer without matches is evidence and has no lines to link."""
    report = TriageReport(
        verdict="It is missing.",
        kind="bug",
        root_cause="The folder is missing [E1, E2].",
        citations=(
            Citation(evidence="E1", path="", start_line=0, end_line=0),
            Citation(evidence="E2", path="a.py", start_line=3, end_line=3),
        ),
        repository="o/r",
        commit="a" * 40,
        citation_audit=CitationAudit(),
        evaluation=Evaluation(),
    )
    (sentence,) = cause(report, Links("", "o/r", "a" * 40))
    assert sentence.startswith("- The folder is missing [`a.py:3`](")
