"""The headline for a known failure, and people's statements about duplicates, which override the program's."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bot.report.comment.folds import related_reason
from bot.report.languages.catalogue import Translator
from bot.report.links import SHA, Links
from bot.report.sanitise import code, prose
from nodes.report import RelatedIssue, TriageReport
from nodes.search.sentences import say
from nodes.state import Finished

if TYPE_CHECKING:
    from bot.ports import Outcome, Relation

CONFIRMED_BY_MAINTAINER = "a maintainer said so"
"""The reason for a related issue that a person named."""
_ISSUE = re.compile(r"#(\d{1,9})")


def known(report: TriageReport, links: Links, write: Translator, base: str = "") -> str:
    """Return a report's first known fix or duplicate, or nothing; without a URL (``base``) it has no link."""
    related = next((related for related in report.related if related.relation != "related"), None)
    if related is None:
        return ""
    write = write.whole(related.why) if related.why not in ("", CONFIRMED_BY_MAINTAINER) else write
    reference, reason = _reference(related, links, base), related_reason(related, write)
    if related.relation == "fixed_by":
        return write(say("**Probably fixed already by {reference}**{reason}.", reference=reference, reason=reason))
    if related.why == CONFIRMED_BY_MAINTAINER:
        same = say("**The same as {reference}, as a maintainer said.** Nothing is closed by this.", reference=reference)
        return write(same)
    states = {"open": say(" (open)"), "closed": say(" (closed)")}
    probably = say(
        "**Probably the same as {reference}{state}**{reason}. Both stay as they are; a maintainer decides.",
        reference=reference,
        state=states[related.state] if related.state else "",
        reason=reason,
    )
    return write(probably)


def _reference(related: RelatedIssue, links: Links, base: str) -> str:
    issue = _ISSUE.fullmatch(related.reference)
    if issue and base:
        return f"[{code(related.reference)}]({base}/issues/{issue[1]})"
    if SHA.fullmatch(related.reference):
        return links.change_of(related.reference)
    return code(related.reference) or prose(related.reference)


def apply_corrections(outcome: Outcome, relations: tuple[Relation, ...]) -> Outcome:
    """Return the outcome with the duplicates that people confirmed, or else those of the program that none denied."""
    if not relations or not isinstance(outcome, Finished) or outcome.state.report is None:
        return outcome
    by_reference = {f"#{relation.other}": relation.duplicate for relation in relations}
    named = [reference for reference, duplicate in by_reference.items() if duplicate]
    confirmed = [RelatedIssue(reference=name, relation="duplicate", why=CONFIRMED_BY_MAINTAINER) for name in named]
    others = [related for related in outcome.state.report.related if related.reference not in by_reference]
    left = [related for related in others if not (confirmed and related.relation == "duplicate")]
    report = outcome.state.report.model_copy(update={"related": (*confirmed, *left)})
    return Finished(outcome.state.model_copy(update={"report": report}))
