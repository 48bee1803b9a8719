"""``/triage wrong <why>``: record that the report is wrong, and triage the issue again with that correction."""

from __future__ import annotations

from bot.errors import UserError
from bot.ports import CommandEffects, Judgement, NewSignal
from bot.worker.commands.kinds import CommandContext, CommandKind, check_not_stopped, check_writable
from bot.worker.commands.parse import Command


async def run(command: Command, context: CommandContext) -> CommandEffects:
    """Store the correction, which every later run receives, and queue a new run."""
    if not command.argument:
        raise UserError("Say what is wrong, as in `/triage wrong the lexer is never reached`.")
    await check_not_stopped(context)
    check_writable(context)
    if await context.control.last_run() is None:
        raise UserError("This issue has no report yet.")
    return CommandEffects(
        signals=(NewSignal("correction", command.argument),),
        judgement=Judgement(right=False, why=command.argument),
        start=True,
        reaction="rocket",
    )


KIND = CommandKind(
    "wrong",
    "wrong <why>",
    "Say that the report is wrong, and why; triage runs again with that information.",
    "maintainer",
    run,
)
