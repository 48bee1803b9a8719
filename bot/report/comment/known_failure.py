"""The headline for a known failure: already fixed, or already reported."""

from __future__ import annotations

import re

from bot.report.comment.folds import related_reason
from bot.report.links import Links
from bot.report.sanitise import code, prose
from nodes.report import RelatedIssue, TriageReport

CONFIRMED_BY_MAINTAINER = "a maintainer said so"
"""The reason for a related issue that a person named."""
_ISSUE = re.compile(r"#(\d{1,9})")
_SHA = re.compile(r"[0-9a-f]{7,64}")


def known(report: TriageReport, links: Links, base: str = "") -> str:
    """Return the first known fix or duplicate of a report's failure, or an empty string.

    Args:
        report: the report, whose related issues were read again.
        links: links to the report's repository.
        base: URL of the repository's page; if empty, issues are named without a link.
    """
    for related in report.related:
        if related.relation == "fixed_by":
            return f"**Probably fixed already by {_reference(related, links, base)}**{related_reason(related)}"
        if related.relation == "duplicate" and related.why == CONFIRMED_BY_MAINTAINER:
            return (
                f"**The same as {_reference(related, links, base)}, as a maintainer said.** Nothing is closed by this."
            )
        if related.relation == "duplicate":
            state = f" ({related.state})" if related.state else ""
            same = f"**Probably the same as {_reference(related, links, base)}{state}**"
            return f"{same}{related_reason(related)} Both stay as they are; a maintainer decides."
    return ""


def _reference(related: RelatedIssue, links: Links, base: str) -> str:
    issue = _ISSUE.fullmatch(related.reference)
    if issue and base:
        return f"[{code(related.reference)}]({base}/issues/{issue[1]})"
    if _SHA.fullmatch(related.reference):
        return links.change_of(related.reference)
    return code(related.reference) or prose(related.reference)
