"""Check the path of a command at a commit, and name the nearest ones if it does not exist."""

from __future__ import annotations

import asyncio
import difflib
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass

from bot.errors import UserError
from bot.report.sanitise import code

_COMPARED = 4_000
"""Maximum number of paths that are compared with a wrong one; each comparison takes time."""
_NEAREST = 3


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
    if any(one == path or one.startswith(f"{path}/") for one in commit.paths):
        return
    near = await asyncio.to_thread(nearest, path, commit.paths)
    missing = f"There is no {code(path)} at commit {code(commit.sha[:12])}."
    raise UserError(f"{missing} The nearest: {', '.join(map(code, near))}." if near else missing)


def nearest(path: str, paths: Iterable[str]) -> list[str]:
    """Return the files and folders whose name or path is most similar to a path, at most three."""
    every = dict.fromkeys(part for one in paths for part in (*_folders(one), one))
    name = path.rpartition("/")[2].casefold()
    same = [one for one in every if one.rpartition("/")[2].casefold() == name]
    if same:
        return sorted(same, key=lambda one: (one.count("/"), one))[:_NEAREST]
    # Folders first: a component is rarely a single file.
    folders = {folder: None for one in every for folder in _folders(one)}
    compared = {one[:120].casefold(): one for one in [*folders, *every][:_COMPARED]}
    close = difflib.get_close_matches(path[:120].casefold(), compared, _NEAREST, 0.6)
    return [compared[one] for one in close]


def _folders(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return ["/".join(parts[: count + 1]) for count in range(len(parts))]
