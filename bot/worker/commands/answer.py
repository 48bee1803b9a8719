"""``/triage answer <text>``: answer the open question; a plain reply does the same."""

from __future__ import annotations

from bot.errors import UserError
from bot.ports import CommandEffects, NewSignal
from bot.worker.commands.kinds import CommandContext, CommandKind, check_not_stopped, check_writable
from bot.worker.commands.parse import Command


async def run(command: Command, context: CommandContext) -> CommandEffects:
    """Store the answer as a signal for the waiting run."""
    if not command.argument:
        raise UserError("Write the answer on the same line, as in `/triage answer only with --no-cache`.")
    await check_not_stopped(context)
    if not any(question.state == "open" for question in await context.control.questions()):
        raise UserError("No question is open here.")
    check_writable(context)
    return CommandEffects(signals=(NewSignal("answer", command.argument),), start=True, reaction="rocket")


KIND = CommandKind("answer", "answer <text>", "Answer the open question; a plain reply works too.", "author", run)
