"""Decides whether a report is about a bug or about intended behaviour, as far as its facts show it."""

from __future__ import annotations

from nodes.report import TriageReport
from nodes.search.facts import Fact
from nodes.search.facts.output.frames import is_raising


def intent_of(report: TriageReport) -> tuple[str, Fact | None]:
    """Return the verdict as the end of a sentence, and the fact that it rests on.

    The verdict is empty if no fact shows anything about it.
    """
    if report.kind != "bug" or report.headline is None:
        return "", None
    lead = report.facts[report.headline]
    statement = next((fact for fact in report.facts if fact.kind == "intended"), None)
    if statement is not None:
        return "may be intended", statement
    deliberate = next((fact for fact in report.facts if fact.kind == "raised_on_purpose" or fact.refuses), None)
    if deliberate is not None:
        return "unclear, because the code raises this error deliberately", deliberate
    if lead.kind == "raised_here" and lead.exact and not is_raising(lead.text or ""):
        return "probably a bug, because the line that fails does not raise the error deliberately", lead
    return "", None
