"""Parses the few small files of a test's repository in the process that searches, without the start of a helper.

A larger task starts one, with its limits. Tests of the helpers start fresh interpreters for all tasks.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from nodes.search.git import Repository
from nodes.search.git.objects import is_text
from nodes.search.languages import protocol
from nodes.search.languages.protocol import PLAIN, Text, load_task, packed

SMALL = 7_000
"""Maximum bytes of all files of a task, fewer than any file that is made to be slow to parse."""


def use(start: Callable[..., Any] = subprocess.Popen) -> None:
    """Let this process do small tasks itself; ``start`` starts the helpers of all others."""
    vars(protocol)["subprocess"] = SimpleNamespace(Popen=_starting(start), DEVNULL=subprocess.DEVNULL)


def _starting(start: Callable[..., Any]) -> Callable[..., Any]:
    def started(command: list[str], *, stdin: Any, stdout: Any, **given: Any) -> Any:
        with open(stdin.fileno(), encoding="utf-8", closefd=False) as order:
            task = load_task(order)
        if sum(job.size for job in task.jobs) > SMALL or task.gave_up:
            stdin.seek(0)
            return start(command, stdin=stdin, stdout=stdout, **given)
        contents = Repository(Path(task.directory)).contents([job.blob for job in task.jobs])
        for job, content in zip(task.jobs, contents, strict=True):
            text = None if content is None else _text(job.path, content)
            os.write(stdout.fileno(), packed(job.number, 0.0) + packed(job.number, text))
        return _Ended()

    return started


def _text(path: str, content: bytes) -> Text:
    from nodes.search.languages.syntax import outline  # the parsers, which not every process of tests needs

    return Text(content, outline(path, content)) if content and is_text(content) else Text(b"", PLAIN)


class _Ended:
    """A helper that has ended: the part of ``subprocess.Popen`` that its parent uses."""

    def poll(self) -> int:
        """Return its exit code."""
        return 0

    wait = poll

    def kill(self) -> None:
        """Do nothing."""
