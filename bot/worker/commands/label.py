"""``/triage label`` and ``/triage unlabel``: add and remove labels that exist in the repository."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from bot.errors import UserError
from bot.ports import CommandEffects
from bot.report.sanitise import code
from bot.worker.commands.kinds import CommandContext, CommandKind
from bot.worker.commands.parse import Command

_MAX_LABELS = 10
"""Labels of one command; the rest is ignored."""


async def run_label(command: Command, context: CommandContext) -> CommandEffects:
    """Add labels. They count as a person's choice, so the App does not change them from then on."""
    named = await _named(command, context)
    if _folded(named) <= _folded(context.issue.labels):
        raise UserError("The issue has these labels already.")
    return CommandEffects(add_labels=named, reaction="rocket")


async def run_unlabel(command: Command, context: CommandContext) -> CommandEffects:
    """Remove labels. The App does not add them again."""
    named = await _named(command, context)
    if _folded(named).isdisjoint(_folded(context.issue.labels)):
        raise UserError("The issue has no such label.")
    return CommandEffects(remove_labels=named, reaction="rocket")


def _folded(labels: Iterable[str]) -> frozenset[str]:
    return frozenset(label.casefold() for label in labels)


async def _named(command: Command, context: CommandContext) -> tuple[str, ...]:
    """Return the named labels, as the repository spells them."""
    requested = [name.strip(" \t\"'`") for name in command.argument.split(",")][:_MAX_LABELS]
    if not any(requested):
        raise UserError(f"Name labels, with commas between them, as in `/triage {command.name} bug, needs info`.")
    known = {label.casefold(): label for label in await context.github.repository_labels()}
    missing = [name for name in requested if name and name.casefold() not in known]
    if missing:
        # Cut, because the time to compare grows with the square of the length.
        close = difflib.get_close_matches(missing[0].casefold()[:60], known, 1)
        nearest = f" Did you mean {code(known[close[0]])}?" if close else ""
        raise UserError(f"There is no label {code(missing[0][:60])} here.{nearest}")
    return tuple(dict.fromkeys(known[name.casefold()] for name in requested if name))


LABEL = CommandKind("label", "label <name>, …", "Add existing labels.", "maintainer", run_label)
UNLABEL = CommandKind(
    "unlabel", "unlabel <name>, …", "Remove labels; triage does not add them again.", "maintainer", run_unlabel
)
