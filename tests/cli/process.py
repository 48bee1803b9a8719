"""Runs the command line in a separate process, with its streams and exit code."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.support.patience import patience
from tests.support.preloaded import Forked

ROOT = Path(__file__).parents[2]


def environment(**settings: str) -> dict[str, str]:
    """Return the test's own environment, with the code under test on the path."""
    return {**os.environ, "PYTHONPATH": str(ROOT), **settings}


def command(*arguments: str) -> list[str]:
    """Return the command that starts the program."""
    return [sys.executable, "-m", "bot", *arguments]


def triage(
    cwd: Path, *arguments: str, stdin: Any = None, fresh: Any = False, **settings: str
) -> subprocess.CompletedProcess[str]:
    """Run the program to its end; without input, standard input is empty, so that a prompt is detected.

    Args:
        cwd: its folder.
        arguments: those after its name.
        stdin: its input, as bytes.  Any, as for fresh: callers also pass their settings as a dictionary.
        fresh: start a new interpreter, with a hash seed of its own.
        settings: environment variables in addition to the test's.
    """
    start: type[subprocess.Popen[Any]] = subprocess.Popen if fresh else Forked
    with start(
        command(*arguments),
        cwd=cwd,
        env=environment(**settings),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        try:
            out, errors = process.communicate(stdin or b"", timeout=patience(60))
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess(process.args, process.returncode, out.decode(), errors.decode())
