"""The slash commands: a parser, the table of commands, and the commands by purpose."""

from collections.abc import Mapping
from typing import Final

from bot.worker.commands import directions, judgements, runs, show
from bot.worker.commands.kinds import CommandContext, CommandKind
from bot.worker.commands.parse import Command, parse

COMMANDS: Final[Mapping[str, CommandKind]] = {
    kind.name: kind
    for kind in (
        runs.AGAIN,
        show.HELP,
        show.STATUS,
        show.WHY,
        show.DIGEST,
        directions.REDIRECT,
        directions.ANSWER,
        runs.STOP,
        runs.RESUME,
        judgements.RIGHT,
        judgements.WRONG,
        directions.COMPONENT,
        judgements.DUPLICATE,
        judgements.NOT_DUPLICATE,
        judgements.LABEL,
        judgements.UNLABEL,
    )
}

__all__ = ["COMMANDS", "Command", "CommandContext", "CommandKind", "parse"]
