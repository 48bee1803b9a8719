"""Tells who gave a command that nothing comes of it, and why: a reaction alone would promise what is not done."""

from __future__ import annotations

from bot.publish.replies import Replies
from bot.repo_config import FoundConfig
from bot.worker.turn import Turn

STOPPED = "Triage is stopped here; `/triage resume` takes it up again."


async def tell_why_not(turn: Turn, found: FoundConfig, asked_in: int | None, why: str) -> None:
    """Answer a command whose run does nothing, once; no command, no answer.

    Args:
        turn: the job's.
        found: the repository's configuration.
        asked_in: the comment with the command.
        why: one or two sentences.
    """
    if asked_in is None or not found.config.enabled:
        return
    replies = Replies.of(turn.publisher(turn.still_ours), turn.ref, found)
    await replies.tell_why_not(asked_in, why)
    await replies.catch_up()
