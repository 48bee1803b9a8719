"""The type of a command, who may use it, and the check of a path that it names."""

from __future__ import annotations

import asyncio
import difflib
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from bot.errors import UserError
from bot.github.repository import RepositoryClient
from bot.ports import CommandEffects, Issue, Permission
from bot.report.sanitise import code
from bot.settings.repository import CommandName, CommandRole, RepositoryConfig
from bot.store.tables import IssueStore
from bot.worker.commands.parse import Command
from bot.worker.publish.wanted import reason_to_skip, remedy_for

_COMPARED = 4_000
"""Maximum number of paths that are compared with a wrong one; each comparison takes time."""
_NEAREST = 3
CLOSED = "This issue is closed. Reopen it first."
Role = Literal["author", "maintainer"]
_STRICTNESS: tuple[CommandRole, ...] = ("author", "maintainer", "nobody")


@dataclass(frozen=True, slots=True)
class CommitPaths:
    """The files of a commit."""

    sha: str
    paths: tuple[str, ...]


PathsReader = Callable[[], Awaitable[CommitPaths]]


async def unreadable() -> CommitPaths:
    """Raise the error for code that cannot be read.

    Raises:
        UserError: always.
    """
    raise UserError("The code cannot be read now, so the path cannot be checked.")


async def check_exists(path: str, read: PathsReader) -> None:
    """Return if the newest commit has a file or a folder of that path.

    Raises:
        UserError: it has none; the message names the nearest ones.
    """
    commit = await read()
    if any(item == path or item.startswith(f"{path}/") for item in commit.paths):
        return
    near = await asyncio.to_thread(nearest, path, commit.paths)
    missing = f"There is no {code(path)} at commit {code(commit.sha[:12])}."
    raise UserError(f"{missing} The nearest: {', '.join(map(code, near))}." if near else missing)


def nearest(path: str, paths: Iterable[str]) -> list[str]:
    """Return the files and folders whose name or path is most similar to a path, at most three."""
    every = dict.fromkeys(part for item in paths for part in (*_folders(item), item))
    name = path.rpartition("/")[2].casefold()
    same = [item for item in every if item.rpartition("/")[2].casefold() == name]
    if same:
        return sorted(same, key=lambda item: (item.count("/"), item))[:_NEAREST]
    # Folders first: a component is rarely a single file.
    folders = {folder: None for item in every for folder in _folders(item)}
    compared = {item[:120].casefold(): item for item in [*folders, *every][:_COMPARED]}
    close = difflib.get_close_matches(path[:120].casefold(), compared, _NEAREST, 0.6)
    return [compared[item] for item in close]


def _folders(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return ["/".join(parts[: count + 1]) for count in range(len(parts))]


@dataclass(frozen=True, slots=True)
class CommandContext:
    """The input of a command's function."""

    issue: Issue
    sender: str
    permission: Permission
    """The sender's permission according to the API; NONE if it was not queried."""
    is_author: bool
    config: RepositoryConfig
    store: IssueStore
    github: RepositoryClient
    paths: PathsReader = unreadable
    """Reads the files of the newest commit."""


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
    run: Callable[[Command, CommandContext], Awaitable[CommandEffects]]

    def required_role(self, config: RepositoryConfig) -> CommandRole:
        """Return the role that may use it in a repository; a configuration can only restrict the default."""
        return max(self.role, config.commands.get(self.name, self.role), key=_STRICTNESS.index)


async def check_not_stopped(context: CommandContext) -> None:
    """Return if triage is not stopped: a run that may not write would consume the command without a visible result.

    Raises:
        UserError: Triage is stopped on this issue.
    """
    if (await context.store.row.state()).muted:
        raise UserError("Triage is stopped for this issue; `/triage resume` continues it.")


def check_writable(context: CommandContext) -> None:
    """Check that runs may write to the issue; otherwise the command would have no effect.

    Raises:
        UserError: The issue is closed or locked, a bot opened it, or it has the opt-out label.
    """
    if context.issue.state != "open":
        raise UserError(CLOSED)
    reason = reason_to_skip(context.issue, context.config)
    if reason is not None:
        raise UserError(f"Triage skips this issue: {reason}. {remedy_for(reason)}".rstrip())


def is_allowed(kind: CommandKind, context: CommandContext) -> bool:
    """Return whether the sender may use this command."""
    role = kind.required_role(context.config)
    if role == "nobody":
        return False
    return context.permission >= Permission.TRIAGE or (role == "author" and context.is_author)
