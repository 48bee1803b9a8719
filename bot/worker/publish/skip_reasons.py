"""Decides when the App does not write to an issue, and gives the reason."""

from __future__ import annotations

from bot.ports import Issue
from bot.settings.repository import RepositoryConfig

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
