"""``/triage``: triage the issue again from the start."""

from __future__ import annotations

from bot.ports import CommandEffects
from bot.worker.commands.kinds import CommandContext, CommandKind, check_writable
from bot.worker.commands.parse import Command


async def run(command: Command, context: CommandContext) -> CommandEffects:  # noqa: ARG001  the table's signature
    """Queue a new run; if triage was stopped, resume it."""
    check_writable(context)
    # ``muted=False``: an explicit request revokes an earlier stop.
    return CommandEffects(start=True, muted=False, reaction="rocket")


KIND = CommandKind("triage", "", "Triage this issue again from the start.", "author", run)
