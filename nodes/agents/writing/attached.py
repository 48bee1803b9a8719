"""Name the attached files that the words of a report's facts are from."""

from __future__ import annotations

from nodes.context import Context
from nodes.report import TriageReport


def naming_attached(report: TriageReport, context: Context) -> TriageReport:
    """Return the report with the names of the files that have the words of its facts, if only they have them."""
    if not context.attached:
        return report
    own = f"{context.title}\n{context.body}"
    for file in context.attached:
        own = own.replace(file.text, "")
    words = [fact.words for fact in report.facts if fact.words and fact.words not in own]
    names = tuple(file.name for file in context.attached if any(word in file.text for word in words))
    return report.model_copy(update={"attached": names}) if names else report
