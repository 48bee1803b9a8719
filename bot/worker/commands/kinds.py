"""The type of a command, who may use it, and the checks that commands share."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

from bot.errors import UserError
from bot.github.repository import RepositoryClient
from bot.ports import CommandEffects, Issue, Permission
from bot.settings.repository import CommandName, CommandRole, RepositoryConfig
from bot.store.tables import IssueStore
from bot.worker.publish.wanted import reason_to_skip, remedy_for

Role = Literal["author", "maintainer"]
STOPPED = "Triage is stopped for this issue; `/triage resume` continues it."
_STRICTNESS: tuple[CommandRole, ...] = ("author", "maintainer", "nobody")


@dataclass(frozen=True, slots=True)
class CommandContext:
    """The input of a command's function."""

    issue: Issue
    permission: Permission
    """The sender's permission according to the API; NONE if it was not queried."""
    is_author: bool
    config: RepositoryConfig
    store: IssueStore
    github: RepositoryClient
    command: str = ""
    argument: str = ""


@dataclass(frozen=True, slots=True)
class CommandKind:
    """A command of the table."""

    name: CommandName
    usage: str
    """The command as typed, without ``/triage``."""
    help: str
    """One sentence, in the imperative."""
    role: Role
    """``author``: the issue's author and maintainers; ``maintainer``: users with at least triage permission."""
    run: Callable[[CommandContext], Awaitable[CommandEffects]]

    def required_role(self, config: RepositoryConfig) -> CommandRole:
        """Return the role that may use it in a repository; a configuration can only restrict the default."""
        return max(self.role, config.commands.get(self.name, self.role), key=_STRICTNESS.index)


async def check_can_run(context: CommandContext) -> None:
    """Raise ``UserError`` if triage is stopped on this issue, or a run may not write to it."""
    if (await context.store.row.state()).muted:
        raise UserError(STOPPED)
    check_writable(context)


def check_writable(context: CommandContext) -> None:
    """Raise ``UserError`` if the issue is closed or locked, a bot opened it, or it has the opt-out label."""
    if context.issue.state != "open":
        raise UserError("This issue is closed. Reopen it first.")
    reason = reason_to_skip(context.issue, context.config)
    if reason is not None:
        raise UserError(f"Triage skips this issue: {reason}. {remedy_for(reason)}".rstrip())


def is_allowed(kind: CommandKind, context: CommandContext) -> bool:
    """Return whether the sender may use this command."""
    role = kind.required_role(context.config)
    if role == "nobody":
        return False
    return context.permission >= Permission.TRIAGE or (role == "author" and context.is_author)
