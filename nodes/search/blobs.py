"""Contents of many blobs, batch by batch, from one git process."""

from __future__ import annotations

import subprocess
from contextlib import suppress
from typing import TYPE_CHECKING, Self

from nodes.search.git import parse_content

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nodes.search.git import Repository

MOST_AT_ONCE = 300
"""Ids that are asked for together: they fit in a pipe, so that git never waits for us while we wait for it."""


class BlobReader:
    """A ``git cat-file`` that stays open."""

    def __init__(self, repository: Repository) -> None:
        self._process = repository.started("cat-file", "--batch", stdin=subprocess.PIPE)

    def read(self, blobs: Sequence[str]) -> list[bytes | None]:
        """Return the content of at most ``MOST_AT_ONCE`` blobs, None for one that is missing."""
        asked, answers = self._process.stdin, self._process.stdout
        assert asked is not None  # noqa: S101 - pipes were asked for
        assert answers is not None  # noqa: S101
        with suppress(BrokenPipeError):  # git gave up at an object that is damaged: nothing more will be answered
            asked.write(b"".join(blob.encode() + b"\n" for blob in blobs))
            asked.flush()
        return [parse_content(answers, answers.readline()) for _ in blobs]

    def __enter__(self) -> Self:
        """Nothing to do: the process runs already."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()
