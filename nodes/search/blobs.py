"""Contents of many blobs, batch by batch, from one git process."""

from __future__ import annotations

import subprocess
from contextlib import suppress
from typing import TYPE_CHECKING, Self

from nodes.search.git import parse_content

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nodes.search.git import Repository
    from nodes.search.running import Running

MOST_AT_ONCE = 300
"""Ids that are asked for together: they fit in a pipe, so that git never waits for us while we wait for it."""


_MOST_RESTARTS = 50
"""Objects that may end git, by damage or by size, before the rest is left unread."""


class BlobReader:
    """A ``git cat-file`` that stays open."""

    def __init__(self, repository: Repository) -> None:
        """Start git."""
        self._repository = repository
        self._restarts = 0
        self._git = self._started()

    def read(self, blobs: Sequence[str]) -> list[bytes | None]:
        """Return the content of at most ``MOST_AT_ONCE`` blobs, None for one that is missing."""
        found = self._read(blobs)
        while len(found) < len(blobs) and self._restarts < _MOST_RESTARTS:
            self._restarts += 1
            self._git.__exit__()
            self._git = self._started()
            found += self._read(blobs[len(found) :])
        return [*found, *[None] * (len(blobs) - len(found))]

    def _started(self) -> Running:
        return self._repository.started("cat-file", "--batch", stdin=subprocess.PIPE)

    def _read(self, blobs: Sequence[str]) -> list[bytes | None]:
        """Return the contents up to the first object at which git gave up, which is None."""
        asked, answers = self._git.stdin, self._git.out
        assert asked is not None  # noqa: S101 - a pipe was asked for
        self._git.more_time()
        with suppress(BrokenPipeError):
            asked.write(b"".join(blob.encode() + b"\n" for blob in blobs))
            asked.flush()
        found: list[bytes | None] = []
        for _ in blobs:
            header = answers.readline()
            found.append(parse_content(answers, header))
            if not header or (found[-1] is None and not header.endswith(b" missing\n")):
                break
        return found

    def __enter__(self) -> Self:
        """Nothing to do: the process runs already."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        self._git.__exit__()
