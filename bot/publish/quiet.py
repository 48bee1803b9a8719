"""When nothing is said, and why."""

from __future__ import annotations

from bot.ports import Issue
from bot.repo_config import RepositoryConfig


def reason_to_be_quiet(issue: Issue | None, config: RepositoryConfig) -> str | None:
    """Why an issue, as it is now, is left alone; None where it is not."""
    if issue is None:
        return "the issue is gone"
    said = {
        "it is a pull request": issue.is_pull_request,
        "a bot opened it": issue.author_is_bot and issue.author.casefold() not in map(str.casefold, config.bots),
        "the issue is closed": issue.state != "open",
        "the conversation is locked": issue.locked,
        "it has the opt-out label": config.opt_out_label.casefold() in map(str.casefold, issue.labels),
        "triage is switched off here": not config.enabled,
    }
    return next((reason for reason, holds in said.items() if holds), None)
