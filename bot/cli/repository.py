"""The repository as a command is given it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from bot.dotenv import find_env_file
from bot.errors import UserError

if TYPE_CHECKING:
    from nodes.search.engine import Engine


def open_engine(
    path: str, rev: str, data_dir: Path, progress: Callable[[str, int, int], None] | None = None
) -> tuple[Engine, str]:
    """Open a repository at a revision.

    Raises:
        UserError: there is no such path, repository, commit or revision.
    """
    from nodes.search.engine import Engine  # noqa: PLC0415  --help needs no numpy
    from nodes.search.errors import SearchError  # noqa: PLC0415

    try:
        engine = Engine(path, data_dir / "repos", progress)
        return engine, engine.commit(rev)
    except SearchError as error:
        raise UserError(str(error)) from error
    except OSError as error:
        raise UserError(f"cannot write to {data_dir}: {error.strerror}; set TRIAGE_DATA_DIR") from error


def data_dir(repository: str) -> Path:
    """Where things are kept, by the same rules as the settings but without a tenth of a second for loading them."""
    given = os.environ.get("TRIAGE_DATA_DIR")
    if given:
        return Path(given).expanduser()
    if find_env_file(repository) is not None:
        from bot.settings import load_settings  # noqa: PLC0415  only where a file must be parsed

        return load_settings(repository).triage_data_dir
    return Path(os.environ.get("XDG_DATA_HOME") or "~/.local/share").expanduser() / "tracehound"
