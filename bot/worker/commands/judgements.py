"""Commands that judge: ``right`` and ``wrong``, ``duplicate`` and ``not-duplicate``, ``label`` and ``unlabel``."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

from bot.errors import UserError
from bot.ports import CommandEffects, Judgement, NewSignal, Relation
from bot.report.sanitise import code
from bot.worker.commands.kinds import CommandContext, CommandKind, check_not_stopped, check_writable
from bot.worker.commands.parse import Command

_MAX_LABELS = 10
"""Labels of one command; the rest is ignored."""
_NUMBER = re.compile(r"#?([1-9]\d{0,8})")


async def run_right(command: Command, context: CommandContext) -> CommandEffects:  # noqa: ARG001  the table's signature
    """Store the judgement of the last report. No run starts, and a closed issue's report can be judged too."""
    last = await context.store.control.last_run()
    if last is None or last.result is None:
        raise UserError("This issue has no report yet.")
    return CommandEffects(judgement=Judgement(right=True), reaction="rocket")


RIGHT = CommandKind("right", "right", "Say that the report is right.", "maintainer", run_right)


async def run_wrong(command: Command, context: CommandContext) -> CommandEffects:
    """Store the correction, which every later run receives, and queue a new run."""
    if not command.argument:
        raise UserError("Say what is wrong, as in `/triage wrong the lexer is never reached`.")
    await check_not_stopped(context)
    check_writable(context)
    if await context.store.control.last_run() is None:
        raise UserError("This issue has no report yet.")
    return CommandEffects(
        signals=(NewSignal("correction", command.argument),),
        judgement=Judgement(right=False, why=command.argument),
        start=True,
        reaction="rocket",
    )


WRONG = CommandKind(
    "wrong",
    "wrong <why>",
    "Say that the report is wrong, and why; triage runs again with that information.",
    "maintainer",
    run_wrong,
)


async def run_duplicate(command: Command, context: CommandContext) -> CommandEffects:
    """Store the relation and queue a run whose report contains it; no issue is closed."""
    return await _related(command, context, duplicate=True)


async def run_not_duplicate(command: Command, context: CommandContext) -> CommandEffects:
    """Store the denial: reports never name the other issue as a duplicate again."""
    return await _related(command, context, duplicate=False)


async def _related(command: Command, context: CommandContext, *, duplicate: bool) -> CommandEffects:
    found = _NUMBER.fullmatch(command.argument)
    if found is None:
        raise UserError(f"Name one issue of this repository, as in `/triage {command.name} #12`.")
    other = int(found[1])
    if other == context.issue.ref.number:
        raise UserError("That is this issue itself.")
    # A denial needs no check: it must also apply to an issue that was deleted.
    if duplicate and await context.github.issue(other) is None:
        raise UserError(f"This repository has no issue `#{other}`.")
    await check_not_stopped(context)
    check_writable(context)
    return CommandEffects(relations=(Relation(other, duplicate),), start=True, reaction="rocket")


DUPLICATE = CommandKind(
    "duplicate",
    "duplicate #n",
    "Mark this issue as a duplicate of another; nothing is closed.",
    "maintainer",
    run_duplicate,
)
NOT_DUPLICATE = CommandKind(
    "not-duplicate",
    "not-duplicate #n",
    "Mark this issue as not a duplicate of another.",
    "maintainer",
    run_not_duplicate,
)


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
