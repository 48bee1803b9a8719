"""``/triage why``: explain what the last report is based on, and what was removed from it."""

from __future__ import annotations

from bot.errors import UserError
from bot.ports import CommandEffects, RunView
from bot.report.document import Result
from bot.report.explain import Account, render_markdown
from bot.report.languages.catalogue import ENGLISH
from bot.worker.commands.kinds import CommandContext, CommandKind
from bot.worker.commands.parse import Command


async def run(command: Command, context: CommandContext) -> CommandEffects:  # noqa: ARG001  the table's signature
    """Reply with the folded explanation of the last report."""
    last = await context.control.last_run()
    if last is None or last.result is None:
        raise UserError("No run of this issue has finished yet.")
    return CommandEffects(reply=explanation(last, last.result, context.config.language), reaction="rocket")


def explanation(last: RunView, result: Result, language: str = ENGLISH) -> str:
    """Return the whole explanation. It contains no current time, so the same run always has the same text."""
    account = Account(last.number, last.sha, last.brain, last.config_hash, result, last.evidence)
    return render_markdown(account, language)


KIND = CommandKind(
    "why",
    "why",
    "Explain the last report: path, evidence, guards, dropped claims, scores, retries, cost.",
    "author",
    run,
)
