"""Decides when the App does not write to an issue, with the reason, and which results are worth a comment."""

from __future__ import annotations

from bot.ports import Issue, Outcome
from bot.settings.repository import RepositoryConfig
from nodes.issue.asked import answers, questions
from nodes.report import TriageReport
from nodes.state import Finished

CLOSED = "the issue is closed"
_BOT, _LOCKED, _OPT_OUT = "a bot opened it", "the conversation is locked", "it has the opt-out label"
_LIFTED = {
    CLOSED: "Reopen it first.",
    _BOT: "Name the bot under `bots` in `.github/triage.yml` first.",
    _LOCKED: "Unlock it first.",
    _OPT_OUT: "Remove the label first.",
}


def remedy_for(reason: str) -> str:
    """Return what a person can do to remove the reason; empty if nothing."""
    return _LIFTED.get(reason, "")


def reason_to_skip(issue: Issue | None, config: RepositoryConfig) -> str | None:
    """Return why the App leaves an issue alone in its current state; None if it does not."""
    if issue is None:
        return "the issue no longer exists"
    applies = {
        "it is a pull request": issue.is_pull_request,
        _BOT: issue.author_is_bot and issue.author.casefold() not in map(str.casefold, config.bots),
        CLOSED: issue.state != "open",
        _LOCKED: issue.locked,
        _OPT_OUT: config.opt_out_label.casefold() in map(str.casefold, issue.labels),
        "triage is disabled in this repository": not config.enabled,
    }
    return next((reason for reason, holds in applies.items() if holds), None)


def is_worth_a_comment(outcome: Outcome, config: RepositoryConfig, *, asked: bool) -> bool:
    """Return whether to write a comment if the issue has none of ours.

    Args:
        outcome: The result of the run. A question or a withheld report is always written.
        config: The repository's configuration.
        asked: A person's command asked for the run.
    """
    if asked or not isinstance(outcome, Finished) or outcome.state.report is None:
        return True
    report = outcome.state.report
    if report.kind == "security":
        return True
    if report.kind not in config.comment_on:
        return False
    return _says_something(report)


def answers_question(outcome: Outcome, issue: Issue) -> bool:
    """Return whether the report on a question leads with a fact that answers what the issue asks."""
    report = outcome.state.report if isinstance(outcome, Finished) else None
    if report is None or report.kind != "question" or report.headline is None:
        return False
    return answers(report.facts[report.headline], questions(issue.title, issue.body))


def _says_something(report: TriageReport) -> bool:
    """Return whether the report names a place, a change, another issue, a reason to act, or missing information."""
    return bool(
        report.statement not in ("ranked", "nothing")
        or report.root_cause
        or report.unconfirmed
        or report.headline is not None
        or report.missing
        or report.related
        or report.suspect_changes
        or report.not_found == "code_not_readable"
    )
