"""``/triage resume``: resume triage of the issue after a stop."""

from __future__ import annotations

from bot.errors import UserError
from bot.ports import CommandEffects
from bot.worker.commands.kinds import CommandContext, CommandKind, check_writable
from bot.worker.commands.parse import Command


async def run(command: Command, context: CommandContext) -> CommandEffects:  # noqa: ARG001  the table's signature
    """Unmute the issue and queue a new run."""
    if not await context.control.muted():
        raise UserError("Triage is not stopped for this issue.")
    check_writable(context)
    return CommandEffects(muted=False, start=True, reaction="rocket")


KIND = CommandKind("resume", "resume", "Continue triage of this issue after a stop.", "maintainer", run)
