"""``/triage right``: record that the report is right."""

from __future__ import annotations

from bot.errors import UserError
from bot.ports import CommandEffects, Judgement
from bot.worker.commands.kinds import CommandContext, CommandKind
from bot.worker.commands.parse import Command


async def run(command: Command, context: CommandContext) -> CommandEffects:  # noqa: ARG001  the table's signature
    """Store the judgement of the last report. No run starts, and a closed issue's report can be judged too."""
    last = await context.control.last_run()
    if last is None or last.result is None:
        raise UserError("This issue has no report yet.")
    return CommandEffects(judgement=Judgement(right=True), reaction="rocket")


KIND = CommandKind("right", "right", "Say that the report is right.", "maintainer", run)
