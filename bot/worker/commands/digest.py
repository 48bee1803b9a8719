"""``/triage digest``: write the digest of open bugs into one comment on this issue, or update that comment."""

from __future__ import annotations

from bot.errors import UserError
from bot.ports import CommandEffects
from bot.worker.commands.kinds import CLOSED, CommandContext, CommandKind
from bot.worker.commands.parse import Command


async def run(command: Command, context: CommandContext) -> CommandEffects:  # noqa: ARG001  the table's signature
    """Queue the digest. A stop or the opt-out label does not prevent it: both concern only triage of the issue."""
    if context.issue.state != "open":
        raise UserError(CLOSED)
    return CommandEffects(digest=True, reaction="rocket")


KIND = CommandKind(
    "digest", "digest", "Write or update one comment here with all open bugs by place.", "maintainer", run
)
