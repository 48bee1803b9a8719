"""Commands that direct runs: ``/triage``, ``stop`` and ``resume``, ``answer``, ``redirect`` and ``component``."""

from __future__ import annotations

import re

from bot.errors import UserError
from bot.ports import CommandEffects, Judgement, NewSignal
from bot.worker.commands.kinds import CommandContext, CommandKind, check_not_stopped, check_writable
from bot.worker.commands.parse import Command

_PATH = re.compile(r"=?\s{0,9}`?(?P<path>[^\s`=<>|\"'][^`<>|\"']{0,299}?)/?`?\s{0,9}")


async def run_again(command: Command, context: CommandContext) -> CommandEffects:  # noqa: ARG001  the table's signature
    """Queue a new run; if triage was stopped, resume it."""
    check_writable(context)
    # ``muted=False``: an explicit request revokes an earlier stop.
    return CommandEffects(start=True, muted=False, reaction="rocket")


AGAIN = CommandKind("triage", "", "Triage this issue again from the start.", "author", run_again)


async def run_stop(command: Command, context: CommandContext) -> CommandEffects:  # noqa: ARG001  the table's signature
    """End a run before its next write, and start no new one."""
    if (await context.store.row.state()).muted:
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
    if not (await context.store.row.state()).muted:
        raise UserError("Triage is not stopped for this issue.")
    check_writable(context)
    return CommandEffects(muted=False, start=True, reaction="rocket")


RESUME = CommandKind("resume", "resume", "Continue triage of this issue after a stop.", "maintainer", run_resume)


async def run_answer(command: Command, context: CommandContext) -> CommandEffects:
    """Store the answer as a signal for the waiting run."""
    if not command.argument:
        raise UserError("Write the answer on the same line, as in `/triage answer only with --no-cache`.")
    await check_not_stopped(context)
    asked = await context.store.repository.questions.all(context.issue.ref.key)
    if all(question.state != "open" for question in asked):
        raise UserError("No question is open here.")
    check_writable(context)
    return CommandEffects(signals=(NewSignal("answer", command.argument),), start=True, reaction="rocket")


ANSWER = CommandKind(
    "answer", "answer <text>", "Answer the open question; a plain reply works too.", "author", run_answer
)


async def run_redirect(command: Command, context: CommandContext) -> CommandEffects:
    """Store a signal. A running run reads it before its next decision; otherwise a new step starts with it."""
    if not command.argument:
        raise UserError("Say where to look, as in `/triage redirect look at the parser`.")
    await check_not_stopped(context)
    check_writable(context)
    return CommandEffects(signals=(NewSignal("redirect", command.argument),), start=True, reaction="rocket")


REDIRECT = CommandKind(
    "redirect",
    "redirect <text>",
    "Say where to search; a run in progress follows it at its next decision.",
    "maintainer",
    run_redirect,
)


async def run_component(command: Command, context: CommandContext) -> CommandEffects:
    """Judge the last report by the place, and search there.

    A report that names the place already is right, so no new run starts.
    """
    found = _PATH.fullmatch(command.argument)
    if found is None:
        raise UserError("Name one path, as in `/triage component = src/parser`.")
    path = found["path"]
    last = await context.store.control.last_run()
    report = last.result.report if last is not None and last.result is not None else None
    suspects = report.suspects if report is not None else ()
    if suspects and (suspects[0].path == path or suspects[0].path.startswith(f"{path}/")):
        return CommandEffects(judgement=Judgement(right=True), reaction="rocket")
    await check_not_stopped(context)
    check_writable(context)
    return CommandEffects(
        signals=(NewSignal("redirect", f"`{path}`"),),
        judgement=Judgement(right=False, why=f"`{path}`") if report is not None else None,
        start=True,
        reaction="rocket",
    )


COMPONENT = CommandKind(
    "component",
    "component = <path>",
    "Name the file or folder at fault; triage runs again and searches there.",
    "maintainer",
    run_component,
)
