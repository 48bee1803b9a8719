"""Commands that start and stop runs: ``/triage``, ``stop`` and ``resume``."""

from __future__ import annotations

from bot.errors import UserError
from bot.ports import CommandEffects, NewSignal
from bot.worker.commands.kinds import CommandContext, CommandKind, check_writable
from bot.worker.commands.parse import Command


async def run_again(command: Command, context: CommandContext) -> CommandEffects:  # noqa: ARG001  the table's signature
    """Queue a new run; if triage was stopped, resume it."""
    check_writable(context)
    # ``muted=False``: an explicit request revokes an earlier stop.
    return CommandEffects(start=True, muted=False, reaction="rocket")


AGAIN = CommandKind("triage", "", "Triage this issue again from the start.", "author", run_again)


async def run_stop(command: Command, context: CommandContext) -> CommandEffects:  # noqa: ARG001  the table's signature
    """End a run before its next write, and start no new one."""
    if await context.control.muted():
        raise UserError("Triage is already stopped for this issue.")
    # The mute also stops a run in progress, which reads it before each write. The signal records who asked.
    return CommandEffects(signals=(NewSignal("stop"),), muted=True, reaction="rocket")


STOP = CommandKind(
    "stop",
    "stop",
    "Stop triage of this issue: a run in progress writes nothing more, and no run starts.",
    "author",
    run_stop,
)


async def run_resume(command: Command, context: CommandContext) -> CommandEffects:  # noqa: ARG001  the table's signature
    """Unmute the issue and queue a new run."""
    if not await context.control.muted():
        raise UserError("Triage is not stopped for this issue.")
    check_writable(context)
    return CommandEffects(muted=False, start=True, reaction="rocket")


RESUME = CommandKind("resume", "resume", "Continue triage of this issue after a stop.", "maintainer", run_resume)
