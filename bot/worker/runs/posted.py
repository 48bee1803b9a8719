"""Describe what a run left on GitHub, for the log: ids and counts, and no text of an issue or of code."""

from __future__ import annotations

from bot.ports import Finished, Outcome, Waiting, Withheld
from bot.worker.publish import Published
from nodes.report import TriageReport


def describe_publication(outcome: Outcome, published: Published) -> str:
    """Return one line on what was written, or why nothing was."""
    if published.state == "moved":
        return "nothing was written: the issue was moved, and is triaged at its new place"
    if published.state == "quiet":
        return f"nothing was written: {published.reason or 'the run was stopped'}"
    result = _result(outcome)
    if published.state == "dry-run":
        return f"nothing was written, since the mode is dry-run: {result}"
    if published.state == "labelled":
        return f"no comment, since the mode is label: {result}"
    if published.comment_id is None:
        return f"no comment, since it would say too little: {result}"
    return f"comment {published.comment_id} holds {result}"


def _result(outcome: Outcome) -> str:
    if isinstance(outcome, Waiting):
        return "a question to the reporter"
    if isinstance(outcome, Withheld):
        return "a request to revoke a secret"
    report = outcome.state.report if isinstance(outcome, Finished) else None
    return "no report" if report is None else _report(report)


def _report(report: TriageReport) -> str:
    places = f"{len(report.suspects)} {'place' if len(report.suspects) == 1 else 'places'}"
    if report.root_cause is not None:
        return f"a report ({report.kind}) with a cause, {places}, confidence {report.confidence:.2f}"
    return f"a report ({report.kind}) without a cause, {places}"
