"""``/triage status``: report the state of the issue's triage."""

from __future__ import annotations

from bot.limits.ceilings import describe_limit
from bot.ports import AskedQuestion, CommandEffects, RunView
from bot.report.sanitise import code, prose
from bot.worker.commands.kinds import CommandContext, CommandKind
from bot.worker.commands.parse import Command


async def run(command: Command, context: CommandContext) -> CommandEffects:  # noqa: ARG001  the table's signature
    """Report the last run, whether triage is stopped, open questions and reached limits."""
    last, questions = await context.control.last_run(), await context.control.questions()
    lines = [_run(last)]
    if await context.control.muted():
        lines.append("Triage is stopped for this issue; `/triage resume` continues it.")
    lines += [_waiting(question) for question in questions if question.state == "open"]
    met = dict.fromkeys(map(describe_limit, await context.control.limits_met()))
    if met:
        lines.append(f"Limits reached: {'; '.join(met)}.")
    return CommandEffects(reply="\n\n".join(lines), reaction="rocket")


def _run(last: RunView | None) -> str:
    if last is None:
        return "No run yet."
    commit = f", on commit {code(last.sha[:12])}" if last.sha else ""
    return f"Run {last.number} is **{prose(last.status)}**{commit}, by {code(last.brain)}."


def _waiting(question: AskedQuestion) -> str:
    return f"It waits for an answer to **Q{question.slot}**: {prose(question.text)}"


KIND = CommandKind("status", "status", "Show the status of the run.", "author", run)
