"""Applies people's statements about duplicates, which override the program's result."""

from __future__ import annotations

from bot.ports import Finished, Outcome, Relation
from bot.report.comment.known_failure import CONFIRMED_BY_MAINTAINER
from nodes.report import RelatedIssue


def apply_corrections(outcome: Outcome, relations: tuple[Relation, ...]) -> Outcome:
    """Return the outcome with the duplicates that people confirmed, without those that they denied.

    If people confirmed a duplicate, those that only the program named are dropped.
    """
    if not relations or not isinstance(outcome, Finished) or outcome.state.report is None:
        return outcome
    by_reference = {f"#{relation.other}": relation.duplicate for relation in relations}
    confirmed = tuple(
        RelatedIssue(reference=reference, relation="duplicate", why=CONFIRMED_BY_MAINTAINER)
        for reference, duplicate in by_reference.items()
        if duplicate
    )
    other_issues = tuple(
        related
        for related in outcome.state.report.related
        if related.reference not in by_reference and not (confirmed and related.relation == "duplicate")
    )
    report = outcome.state.report.model_copy(update={"related": (*confirmed, *other_issues)})
    return Finished(outcome.state.model_copy(update={"report": report}))
