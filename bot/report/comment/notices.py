"""Further comments: the alert on a crash, and the reply to a person whose answer changed the finding."""

from collections.abc import Sequence

from bot.report.comment.thread import Thread, marker
from bot.report.difference import is_other_finding
from bot.report.sanitise import code
from nodes.report import TriageReport
from nodes.search.sentences import say

_ISSUES = 10
"""Maximum number of issues that the comment names."""


def alert_comment(fingerprint: str, reporters: int, others: Sequence[int]) -> str:
    """Return the comment on a crash with its number of different reporters and the numbers of their other issues."""
    # In code spans, because live references would write into the other issues' histories.
    named = ", ".join(code(f"#{number}") for number in others[:_ISSUES])
    more = f" and {len(others) - _ISSUES} more" if len(others) > _ISSUES else ""
    says = f"**{reporters} people reported this crash within 24 hours.** Other reports: {named}{more}."
    note = "<sub>For maintainers; written once per crash.</sub>"
    return f"{marker('alert', fingerprint)}\n\n{says}\n\n{note}\n"


def answer_reply(
    before: TriageReport | None, after: TriageReport, thread: Thread, question_id: str, sticky_url: str
) -> str:
    """Return one sentence on the new finding, with a link to the report; empty if the finding did not change.

    ``before`` is the report before the question, if there was one, and ``after`` that with its answer.
    """
    finding = _finding(after, sticky_url)
    # While a question is open the comment claims nothing, so without an earlier report any finding is a change.
    changed = is_other_finding(before, after) if before is not None else bool(finding)
    if not changed or after.kind == "security" or not sticky_url.startswith(f"{thread.base}/issues/"):
        return ""
    says = finding or say("With it, [the report]({url}) no longer names a place.", url=sticky_url)
    reply = thread.to_reporter()(say("Thank you, the answer was read. {finding}", finding=says))
    return f"{marker('answered', question_id)}\n\n{reply}\n"


def _finding(report: TriageReport, url: str) -> str:
    """Return what the report names, as a sentence with its address; empty if it names nothing."""
    same = next((other for other in report.related if other.relation != "related"), None)
    if same is not None:
        # In a code span, because a live reference would write into the other issue's history.
        name = code(same.reference)
        if same.relation == "duplicate":
            return say("With it, [the report]({url}) names an issue that may be the same: {name}.", url=url, name=name)
        return say("With it, [the report]({url}) names what may have fixed it: {name}.", url=url, name=name)
    if report.statement in ("claim", "facts", "first_place") and report.suspects:
        name = code(report.suspects[0].path)
        return say("With it, [the report]({url}) names a place to look at: {name}.", url=url, name=name)
    return ""
