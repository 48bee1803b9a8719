"""``/triage component = <path>``: name the place of the fault, for this issue's reports and for backtests."""

from __future__ import annotations

import re

from bot.errors import UserError
from bot.ports import CommandEffects, Judgement, NewSignal
from bot.worker.commands.kinds import CommandContext, CommandKind, check_not_stopped, check_writable
from bot.worker.commands.parse import Command

_PATH = re.compile(r"=?\s{0,9}`?(?P<path>[^\s`=<>|\"'][^`<>|\"']{0,299}?)/?`?\s{0,9}")


async def run(command: Command, context: CommandContext) -> CommandEffects:
    """Judge the last report by the place, and search there in this issue's next run and in all later ones.

    A report that names the place already is right, so nothing is run again.
    """
    found = _PATH.fullmatch(command.argument)
    if found is None:
        raise UserError("Name one path, as in `/triage component = src/parser`.")
    path = found["path"]
    last = await context.control.last_run()
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


KIND = CommandKind(
    "component",
    "component = <path>",
    "Name the file or folder at fault; triage runs again and searches there.",
    "maintainer",
    run,
)
