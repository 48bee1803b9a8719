"""Open the repository that a command names."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from bot.errors import UserError
from bot.files import find_env_file, restrict_permissions

if TYPE_CHECKING:
    from bot.settings import Settings
    from nodes.search.engine import Engine


class Storage(NamedTuple):
    """The data directory, the size limit of the parse cache and the limit of indexed text, both in MB."""

    data_dir: Path
    cache_mb: int = 512
    index_mb: int = 64

    @classmethod
    def of(cls, settings: Settings) -> Storage:
        """Return the values of the settings."""
        return cls(settings.triage_data_dir, settings.triage_cache_mb, settings.triage_index_mb)


def open_engine(
    path: str, rev: str, storage: Storage, progress: Callable[[str, int, int], None] | None = None
) -> tuple[Engine, str]:
    """Open a repository at a revision.

    Raises:
        UserError: the path, repository, commit or revision does not exist, the clone lacks the contents of all files,
            or the data directory is not writable.
    """
    from nodes.search.engine import Engine
    from nodes.search.git.errors import SearchError

    try:
        restrict_permissions(storage.data_dir)
        engine = Engine(
            path,
            storage.data_dir / "repos",
            progress,
            cache_bytes=storage.cache_mb * 1_000_000,
            most_text=storage.index_mb * 1_000_000,
        )
        sha = engine.commit(rev)
        empty = engine.repository.lacks_contents(sha)
    except SearchError as error:
        raise UserError(str(error)) from error
    except OSError as error:
        raise UserError(f"cannot write to {storage.data_dir}: {error.strerror}; set TRIAGE_DATA_DIR") from error
    if empty:
        raise UserError(f"{path}: a partial clone without the contents of its files: fetch them, or clone it whole")
    return engine, sha


def storage(repository: str) -> Storage:
    """Return the storage by the same rules as the settings, but without 0.1 s for loading pydantic if possible."""
    if any(map(os.environ.get, ("TRIAGE_CACHE_MB", "TRIAGE_INDEX_MB"))) or find_env_file(repository) is not None:
        from bot.settings import load_settings

        return Storage.of(load_settings(repository))
    given = os.environ.get("TRIAGE_DATA_DIR")
    if given:
        return Storage(Path(given).expanduser())
    return Storage(Path(os.environ.get("XDG_DATA_HOME") or "~/.local/share").expanduser() / "tracehound")
