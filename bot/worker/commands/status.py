"""``/triage status``: report the state of the issue's triage."""

from __future__ import annotations

from collections.abc import Sequence

from bot.limits.ceilings import describe_limit
from bot.ports import AskedQuestion, CommandEffects, RunView, TaughtWord
from bot.report.sanitise import code, prose
from bot.worker.commands.kinds import CommandContext, CommandKind
from bot.worker.commands.parse import Command

_SHOWN = 20
"""Taught words that a reply lists."""


async def run(command: Command, context: CommandContext) -> CommandEffects:  # noqa: ARG001  the table's signature
    """Report the last run, whether triage is stopped, open questions, reached limits and taught words."""
    last, questions = await context.control.last_run(), await context.control.questions()
    lines = [_run(last)]
    if await context.control.muted():
        lines.append("Triage is stopped for this issue; `/triage resume` continues it.")
    lines += [_waiting(question) for question in questions if question.state == "open"]
    reached = dict.fromkeys(map(describe_limit, await context.control.limits_reached()))
    if reached:
        lines.append(f"Limits reached: {'; '.join(reached)}.")
    lines += _taught(await context.control.taught())
    return CommandEffects(reply="\n\n".join(lines), reaction="rocket")


def _run(last: RunView | None) -> str:
    if last is None:
        return "No run yet."
    commit = f", on commit {code(last.sha[:12])}" if last.sha else ""
    return f"Run {last.number} is **{prose(last.status)}**{commit}, by {code(last.brain)}."


def _waiting(question: AskedQuestion) -> str:
    return f"It waits for an answer to **Q{question.slot}**: {prose(question.text)}"


def _taught(words: Sequence[TaughtWord]) -> list[str]:
    """Return the words that people taught for places, the first ones in a list."""
    if not words:
        return []
    shown = "\n".join(f"- {code(one.word)} → {code(one.path)}" for one in words[:_SHOWN])
    more = [f"{len(words) - _SHOWN} more words are on the page of the repository."] if len(words) > _SHOWN else []
    return ["Words that people taught for places of this repository:", shown, *more]


KIND = CommandKind("status", "status", "Show the status of the run.", "author", run)
