"""Replies to a command that starts nothing, with the reason: a reaction alone would promise a result."""

from __future__ import annotations

from bot.publish.replies import Replies
from bot.repo_config import FoundConfig
from bot.worker.turn import Turn

STOPPED = "Triage is stopped here; `/triage resume` takes it up again."


async def tell_why_not(turn: Turn, found: FoundConfig, asked_in: int | None, why: str) -> None:
    """Reply once to a command whose run does nothing. Without a command there is no reply.

    Args:
        turn: The job's turn.
        found: The repository's configuration.
        asked_in: Id of the comment with the command.
        why: One or two sentences.
    """
    if asked_in is None or not found.config.enabled:
        return
    replies = Replies.of(turn.publisher(turn.still_ours), turn.ref, found)
    await replies.tell_why_not(asked_in, why)
    await replies.catch_up()
