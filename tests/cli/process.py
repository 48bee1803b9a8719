"""The command line as a person meets it: a process of its own, with its streams and its exit code."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.patience import patience

ROOT = Path(__file__).parents[2]


def environment(**settings: str) -> dict[str, str]:
    """The test's own environment, with the code under test on the path."""
    return {**os.environ, "PYTHONPATH": str(ROOT), **settings}


def command(*arguments: str) -> list[str]:
    """The words that start it."""
    return [sys.executable, "-m", "bot", *arguments]


def triage(cwd: Path, *arguments: str, stdin: bytes | None = None, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run it to its end; without input it has an empty one, so that waiting for a person shows."""
    done = subprocess.run(
        command(*arguments),
        cwd=cwd,
        env=environment(**settings),
        input=stdin or b"",
        capture_output=True,
        timeout=patience(60),
        check=False,
    )
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())
