"""``/triage help``: list the commands and who may use them."""

from __future__ import annotations

from collections.abc import Iterable

from bot.ports import CommandEffects
from bot.report.sanitise import cell, code
from bot.worker.commands.kinds import CommandContext, CommandKind
from bot.worker.commands.parse import Command

WHO = {"author": "the author, maintainers", "maintainer": "maintainers", "nobody": "no one in this repository"}


async def run(command: Command, context: CommandContext) -> CommandEffects:  # noqa: ARG001  the table's signature
    """List the commands as this repository's configuration allows them."""
    from bot.worker.commands import COMMANDS  # noqa: PLC0415  the table imports this module

    rows = ((kind, WHO[kind.required_role(context.config)]) for kind in COMMANDS.values())
    intro = "Write each command on its own line. To answer a question, just reply; no command is needed."
    return CommandEffects(reply=f"{intro}\n\n{table(rows)}", reaction="rocket")


def table(rows: Iterable[tuple[CommandKind, str]]) -> str:
    """Return a Markdown table of commands, with their effects and who may use them."""
    lines = [f"| {cell(code(f'/triage {kind.usage}'))} | {kind.help} | {who} |" for kind, who in rows]
    return "\n".join(("| Command | What it does | Who |", "|---|---|---|", *lines))


KIND = CommandKind("help", "help", "List the commands.", "author", run)
