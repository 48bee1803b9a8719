"""``/triage stop``: stop triage of this issue."""

from __future__ import annotations

from bot.errors import UserError
from bot.ports import CommandEffects, NewSignal
from bot.worker.commands.kinds import CommandContext, CommandKind
from bot.worker.commands.parse import Command


async def run(command: Command, context: CommandContext) -> CommandEffects:  # noqa: ARG001  the table's signature
    """End a run before its next write, and start no new one."""
    if await context.control.muted():
        raise UserError("Triage is already stopped for this issue.")
    # The mute also stops a run in progress, which reads it before each write. The signal records who asked.
    return CommandEffects(signals=(NewSignal("stop"),), muted=True, reaction="rocket")


KIND = CommandKind(
    "stop",
    "stop",
    "Stop triage of this issue: a run in progress writes nothing more, and no run starts.",
    "author",
    run,
)
