"""``/triage why``: what the last report rests on, and what was taken out of it."""

from __future__ import annotations

from collections.abc import Iterable

from bot.commands.kinds import CommandContext, CommandKind
from bot.commands.parse import Command
from bot.errors import UserError
from bot.ports import CommandEffects, RunView
from bot.report.document import Result
from bot.report.folds import bullets, fold
from bot.report.sanitise import block, cell, code, prose
from bot.report.words import cut

_LIMIT = 60_000
_REASON_WORDS = 25


async def run(command: Command, context: CommandContext) -> CommandEffects:  # noqa: ARG001  the table's signature
    """Show the path, the dropped claims, the cost and a ticket draft of the last run, folded."""
    last = await context.control.last_run()
    if last is None or last.result is None:
        raise UserError("There is no finished run to explain yet.")
    return CommandEffects(reply=explanation(last, last.result), reaction="rocket")


def explanation(last: RunView, result: Result) -> str:
    """The whole explanation; nothing in it depends on a clock."""
    security = result.report.kind == "security"
    parts = [
        _head(last, result),
        fold("The path it took", _path(result)),
        "" if security else fold("Claims dropped in checking", bullets("Dropped", map(prose, _dropped(result)))),
        "" if security else fold("Ticket draft", _ticket(result)),
    ]
    return "\n\n".join(filter(None, parts))[:_LIMIT]


def _head(last: RunView, result: Result) -> str:
    metrics = result.metrics
    usage = metrics.usage
    cost = (
        f"{usage.calls} model calls, {usage.input_tokens + usage.output_tokens} tokens" if usage.calls else "no model"
    )
    history = " → ".join(f"{value:.0%}" for value in metrics.confidence_history) or "none"
    config = f" · configuration {code(last.config_hash)}" if last.config_hash else ""
    return (
        f"Run {last.number} read commit {code(last.sha[:12])}, judged by {code(last.brain)} ({cost}){config}. "
        f"Confidence of its drafts: {history}. Claims dropped: {metrics.claims_dropped}."
    )


def _path(result: Result) -> str:
    rows = [
        f"| {entry.iteration} | {code(entry.node)} | {cell(prose(entry.decision))} | {cell(code(entry.guard or ''))} "
        f"| {cell(prose('' if result.report.kind == 'security' else cut(entry.reason, _REASON_WORDS)))} |"
        for entry in result.trace[:60]
    ]
    return "\n".join(("| Round | Node | Decision | Guard | Reason |", "|---|---|---|---|---|", *rows))


def _dropped(result: Result) -> Iterable[str]:
    return result.report.citation_audit.dropped[:20]


def _ticket(result: Result) -> str:
    ticket = result.report.ticket
    fields = "\n".join(f"{name}: {value}" for name, value in ticket.fields.items())
    return block(f"{ticket.title}\n\n{fields}\n\n{ticket.body}", "markdown") if ticket.title else ""


KIND = CommandKind(
    "why", "why", "Show what the last report rests on: its path, dropped claims, cost, a ticket draft.", "author", run
)
