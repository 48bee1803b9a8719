"""The indexes of a repository's commits: loaded on first use, the last ones retained in memory."""

from __future__ import annotations

import hashlib
import os
from collections import OrderedDict
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from nodes.search.index.loading import Loaded, load_index

if TYPE_CHECKING:
    from collections.abc import Callable

    from nodes.search.cache import Cache
    from nodes.search.git import Repository
    from nodes.search.types import Scope

COMMITS = 2
"""Number of indexes of each scope in memory: the current commit and the previous one."""


class Indexes:
    """The indexes of one repository. Safe to use from several threads."""

    def __init__(self, cache: Cache | None, progress: Callable[[str, int, int], None], most_text: int) -> None:
        """Start with none.

        Args:
            cache: parse results of earlier runs.
            progress: called with (phase, done, total) at intervals.
            most_text: maximum bytes of a commit's text that are indexed.
        """
        self._cache = cache
        self._progress = progress
        self._most_text = most_text
        self._loaded: dict[Scope, OrderedDict[str, Loaded]] = {"source": OrderedDict(), "all": OrderedDict()}
        self._lock = Lock()

    @property
    def memory(self) -> int:
        """Approximate bytes of the indexes in memory."""
        return sum(loaded.index.memory for commits in self._loaded.values() for loaded in list(commits.values()))

    def load(self, repository: Repository, sha: str, scope: Scope) -> Loaded:
        """Return the index of a commit, given its full SHA, with the cost of loading it."""
        # The lock also covers loading, so that two threads never parse the same commit at once.
        with self._lock:
            commits = self._loaded[scope]
            if sha not in commits:
                others = [of[sha].index for of in self._loaded.values() if sha in of]
                commits[sha] = load_index(
                    repository,
                    sha,
                    self._cache,
                    self._progress,
                    scope=scope,
                    most_text=self._most_text,
                    known=others[0] if others else None,
                )
                while len(commits) > COMMITS:
                    commits.popitem(last=False)
            commits.move_to_end(sha)
            return commits[sha]


def cache_file(directory: Path, repository: Path) -> Path:
    """Return the path of a repository's cache: a readable name with a hash that is unique to each clone."""
    digest = hashlib.sha256(os.fsencode(repository)).hexdigest()[:12]
    name = "".join(character if character.isalnum() else "-" for character in repository.name)[:40]
    return Path(directory) / f"{name}-{digest}.sqlite"
