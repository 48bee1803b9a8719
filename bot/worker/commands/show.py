"""Commands that show something and start no run: ``help``, ``status`` and ``why``."""

from __future__ import annotations

from collections.abc import Iterable

from bot.errors import UserError
from bot.limits.ceilings import describe_limit
from bot.ports import AskedQuestion, CommandEffects, RunView
from bot.report.document import Result
from bot.report.explain import Account, render_markdown
from bot.report.sanitise import cell, code, prose
from bot.worker.commands.kinds import CommandContext, CommandKind
from bot.worker.commands.parse import Command

WHO = {"author": "the author, maintainers", "maintainer": "maintainers", "nobody": "no one in this repository"}


async def run_help(command: Command, context: CommandContext) -> CommandEffects:  # noqa: ARG001  the table's signature
    """List the commands as this repository's configuration allows them."""
    from bot.worker.commands.execute import COMMANDS  # noqa: PLC0415  the table imports this module

    rows = ((kind, WHO[kind.required_role(context.config)]) for kind in COMMANDS.values())
    intro = "Write each command on its own line. To answer a question, just reply; no command is needed."
    return CommandEffects(reply=f"{intro}\n\n{table(rows)}", reaction="rocket")


def table(rows: Iterable[tuple[CommandKind, str]]) -> str:
    """Return a Markdown table of commands, with their effects and who may use them."""
    lines = [f"| {cell(code(f'/triage {kind.usage}'))} | {kind.help} | {who} |" for kind, who in rows]
    return "\n".join(("| Command | What it does | Who |", "|---|---|---|", *lines))


HELP = CommandKind("help", "help", "List the commands.", "author", run_help)


async def run_status(command: Command, context: CommandContext) -> CommandEffects:  # noqa: ARG001  the table's signature
    """Report the last run, whether triage is stopped, open questions and reached limits."""
    lines = [_last_run(await context.store.control.last_run())]
    if (await context.store.row.state()).muted:
        lines.append("Triage is stopped for this issue; `/triage resume` continues it.")
    questions = await context.store.repository.questions.all(context.issue.ref.key)
    lines += [_waiting(question) for question in questions if question.state == "open"]
    reached = dict.fromkeys(map(describe_limit, await context.store.repository.limited.today()))
    if reached:
        lines.append(f"Limits reached: {'; '.join(reached)}.")
    return CommandEffects(reply="\n\n".join(lines), reaction="rocket")


def _last_run(last: RunView | None) -> str:
    if last is None:
        return "No run yet."
    commit = f", on commit {code(last.sha[:12])}" if last.sha else ""
    return f"Run {last.number} is **{prose(last.status)}**{commit}, by {code(last.brain)}."


def _waiting(question: AskedQuestion) -> str:
    return f"It waits for an answer to **Q{question.slot}**: {prose(question.text)}"


STATUS = CommandKind("status", "status", "Show the status of the run.", "author", run_status)


async def run_why(command: Command, context: CommandContext) -> CommandEffects:  # noqa: ARG001  the table's signature
    """Reply with the folded explanation of the last report."""
    last = await context.store.control.last_run()
    if last is None or last.result is None:
        raise UserError("No run of this issue has finished yet.")
    return CommandEffects(reply=explanation(last, last.result), reaction="rocket")


def explanation(last: RunView, result: Result) -> str:
    """Return the whole explanation. It contains no current time, so the same run always has the same text."""
    account = Account(last.number, last.sha, last.brain, last.config_hash, result, last.evidence)
    return render_markdown(account)


WHY = CommandKind(
    "why",
    "why",
    "Explain the last report: path, evidence, guards, dropped claims, scores, retries, cost.",
    "author",
    run_why,
)
