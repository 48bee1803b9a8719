"""The slash commands: a parser, the table of commands, and one file per command."""

from collections.abc import Mapping
from typing import Final

from bot.worker.commands import (
    again,
    answer,
    component,
    digest,
    duplicate,
    help,  # noqa: A004
    label,
    redirect,
    resume,
    right,
    status,
    stop,
    why,
    wrong,
)
from bot.worker.commands.kinds import CommandContext, CommandKind
from bot.worker.commands.parse import Command, parse

COMMANDS: Final[Mapping[str, CommandKind]] = {
    kind.name: kind
    for kind in (
        again.KIND,
        help.KIND,
        status.KIND,
        why.KIND,
        digest.KIND,
        redirect.KIND,
        answer.KIND,
        stop.KIND,
        resume.KIND,
        right.KIND,
        wrong.KIND,
        component.KIND,
        duplicate.KIND,
        duplicate.NOT_KIND,
        label.KIND,
        label.UN_KIND,
    )
}

__all__ = ["COMMANDS", "Command", "CommandContext", "CommandKind", "parse"]
