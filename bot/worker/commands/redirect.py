"""``/triage redirect <text>``: direct the run to another part of the code."""

from __future__ import annotations

from bot.errors import UserError
from bot.ports import CommandEffects, NewSignal
from bot.worker.commands.kinds import CommandContext, CommandKind, check_not_stopped, check_writable
from bot.worker.commands.parse import Command


async def run(command: Command, context: CommandContext) -> CommandEffects:
    """Store a signal. A running run reads it before its next decision; otherwise a new step starts with it."""
    if not command.argument:
        raise UserError("Say where to look, as in `/triage redirect look at the parser`.")
    await check_not_stopped(context)
    check_writable(context)
    return CommandEffects(signals=(NewSignal("redirect", command.argument),), start=True, reaction="rocket")


KIND = CommandKind(
    "redirect",
    "redirect <text>",
    "Say where to search; a run in progress follows it at its next decision.",
    "maintainer",
    run,
)
