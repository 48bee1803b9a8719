"""Replies to a command that starts nothing, with the reason: a reaction alone would promise a result."""

from __future__ import annotations

from bot.publish.replies import Replies
from bot.repo_config import FoundConfig
from bot.worker.issue_job import IssueJob

STOPPED = "Triage is stopped for this issue; `/triage resume` continues it."


async def explain_refusal(issue_job: IssueJob, found: FoundConfig, asked_in: int | None, why: str) -> None:
    """Reply once to a command whose run does nothing. Without a command there is no reply.

    Args:
        issue_job: The job's turn.
        found: The repository's configuration.
        asked_in: Id of the comment with the command.
        why: One or two sentences.
    """
    if asked_in is None or not found.config.enabled:
        return
    replies = Replies.of(issue_job.publisher(issue_job.check_ownership), issue_job.ref, found)
    await replies.explain_refusal(asked_in, why)
    await replies.catch_up()
