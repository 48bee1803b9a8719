"""Open the repository that a command names, and show the progress on standard error."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from bot.errors import UserError
from bot.files import find_env_file, ignored_settings, repository_around, restrict_permissions

if TYPE_CHECKING:
    from bot.settings.environment import Settings
    from nodes.search.engine import Engine

_WIDTH = 78
_EVERY = 0.1
"""Seconds between two rewrites."""


def open_engine(
    path: str, rev: str, data_dir: Path, progress: Callable[[str, int, int], None] | None = None
) -> tuple[Engine, str]:
    """Open a repository at a revision.

    Raises:
        UserError: the path, repository, commit or revision does not exist, the clone lacks the contents of all files,
            or the data directory is not writable.
    """
    from nodes.search.engine import Engine
    from nodes.search.git.errors import SearchError

    try:
        restrict_permissions(data_dir)
        engine = Engine(path, data_dir / "repos", progress)
        sha = engine.commit(rev)
        empty = engine.repository.lacks_contents(sha)
    except SearchError as error:
        raise UserError(str(error)) from error
    except OSError as error:
        raise UserError(f"cannot write to {data_dir}: {error.strerror}; set TRIAGE_DATA_DIR") from error
    if empty:
        raise UserError(f"{path}: a partial clone without the contents of its files: fetch them, or clone it whole")
    return engine, sha


def data_directory(repository: str) -> Path:
    """Return the data directory as the settings name it, but without 0.1 s for loading pydantic if possible."""
    if find_env_file(repository) is not None:
        from bot.settings.environment import load_settings

        return load_settings(repository).triage_data_dir
    given = os.environ.get("TRIAGE_DATA_DIR")
    if given:
        return Path(given).expanduser()
    return Path(os.environ.get("XDG_DATA_HOME") or "~/.local/share").expanduser() / "tracehound"


class ProgressLine:
    """One line of progress, shown during the work."""

    def __init__(self, *, verbose: bool = False) -> None:
        self._verbose = verbose
        self._enabled = sys.stderr.isatty() and not verbose
        # A longer line would wrap and could not be overwritten. A container's terminal may report no columns.
        columns = os.get_terminal_size(sys.stderr.fileno()).columns if self._enabled else 0
        self._width = min(_WIDTH, columns - 1) if columns else _WIDTH
        self._shown = 0.0
        self._dirty = False

    def phase(self, name: str, done: int, total: int) -> None:
        """Show the engine's progress."""
        now = time.monotonic()
        if now - self._shown >= _EVERY or done == total:
            self._shown = now
            self._write(f"{name} {done}/{total}" if total else name)

    def node(self, node: str, message: str) -> None:
        """Show the graph's progress."""
        if self._verbose:
            sys.stderr.write(f"{node}: {message}\n")
        self._write(f"{node}: {message}")

    def clear(self) -> None:
        """Erase the line, so that later output starts on a clean one."""
        if self._dirty:
            sys.stderr.write("\r" + " " * self._width + "\r")
            sys.stderr.flush()
            self._dirty = False

    def _write(self, text: str) -> None:
        if self._enabled:
            sys.stderr.write("\r" + text[: self._width].ljust(self._width))
            sys.stderr.flush()
            self._dirty = True


@contextmanager
def resumable(progress: ProgressLine) -> Iterator[ProgressLine]:
    """Erase the progress after some work; after Ctrl-C, say that the command resumes, and exit."""
    try:
        yield progress
    except KeyboardInterrupt:
        progress.clear()
        click.echo("stopped; the same command continues from here", err=True)
        sys.exit(130)
    finally:
        progress.clear()


def settings_for(repo: str | None, brain: Literal["rules", "llm", "auto"] | None) -> Settings:
    """Load the operator's settings, with the command line's brain and no .env, and check that its model can be used."""
    from bot.settings.environment import load_settings

    around = repo or repository_around(Path.cwd())
    if around is not None and ignored_settings(around):
        click.echo("the .env in this folder belongs to the analysed repository, so it is ignored", err=True)
    settings = load_settings(around)
    if brain is not None:
        settings = settings.model_copy(update={"triage_brain": brain})
    if settings.brain == "llm":
        from bot.runs.model import check_brain

        check_brain(settings)
    return settings
