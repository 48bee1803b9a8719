"""Parses the few small files of a test's repository in the process that searches, without the start of a helper.

A larger task starts one, with its limits. Tests of the helpers start fresh interpreters for all tasks.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from nodes.search.git import Repository
from nodes.search.git.objects import is_text
from nodes.search.languages import pool
from nodes.search.languages.protocol import PLAIN, BlobToParse, FilePosition, Helper, Outlined, Task

SMALL = 7_000
"""Maximum bytes of all files of a task, fewer than any file that is made to be slow to parse."""


def use() -> None:
    """Let this process do small tasks itself; helpers do all others."""
    vars(pool)["Helper"] = _helper


def _helper(task: Task) -> Helper | InlineHelper:
    if sum(job.size for job in task.jobs) > SMALL or task.gave_up:
        return Helper(task)
    return InlineHelper(task)


class InlineHelper:
    """A helper that has ended: the part of ``Helper`` that a pool uses."""

    last: FilePosition | None = None

    def __init__(self, task: Task) -> None:
        self.jobs = task.jobs
        self._texts = list(_read(Path(task.directory), task.jobs))

    def new(self) -> Iterator[tuple[int, Outlined | None]]:
        """Yield all texts once."""
        while self._texts:
            yield self._texts.pop(0)

    def ended(self) -> int:
        """Return its exit code."""
        return 0

    def close(self) -> None:
        """Do nothing."""


def _read(directory: Path, jobs: list[BlobToParse]) -> Iterator[tuple[int, Outlined | None]]:
    contents = Repository(directory).contents([job.blob for job in jobs])
    for job, content in zip(jobs, contents, strict=True):
        yield job.number, None if content is None else _text(job.path, content)


def _text(path: str, content: bytes) -> Outlined:
    from nodes.search.languages.syntax import outline  # the parsers, which not every process of tests needs

    return Outlined(content, outline(path, content)) if content and is_text(content) else Outlined(b"", PLAIN)
