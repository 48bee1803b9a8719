"""Clones with one fix each, and what the collection of labels makes of them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.ranking.labels.collect import main
from tests.support.repositories import make_repository

BODY = "When a file has no time zone, load returns the wrong hour, although the zone is in its first line. " * 2
BROKEN = "import os\n\n\ndef load(path):\n    zone = None\n    return zone\n\n\ndef save(path):\n    return path\n"
FIXED = BROKEN.replace("zone = None", "zone = first_line(path)")


def collect(
    clones: Path,
    development: list[dict[str, Any]] | None = None,
    keep: Path | None = None,
    threads: list[dict[str, Any]] | None = None,
    *,
    as_process: bool = False,
) -> list[dict[str, Any]]:
    """Collect the rows of the clones into ``rows.jsonl`` and ``table.csv`` next to them; return the rows.

    In this process unless ``as_process``: most of a fresh interpreter's time goes to imports.
    """
    folder = clones.parent
    clones.mkdir(exist_ok=True)
    (folder / "dev.jsonl").write_text("".join(json.dumps(row) + "\n" for row in development or []))
    files = {"development": "dev.jsonl", "rows": "rows.jsonl", "table": "table.csv"}
    options = [part for name, file in files.items() for part in (f"--{name}", str(folder / file))]
    options += ["--keep", str(keep)] if keep else []
    if threads is not None:
        (folder / "threads.jsonl").write_text("".join(json.dumps(row) + "\n" for row in threads))
        options += ["--threads", str(folder / "threads.jsonl")]
    given = ["--clones", str(clones), *options]
    if as_process:
        command = [sys.executable, "-m", "benchmarks.ranking.labels.collect", *given]
        subprocess.run(command, check=True, capture_output=True, timeout=120)
    else:
        main(given)
    return [json.loads(line) for line in (folder / "rows.jsonl").read_text().splitlines()]


def fixed_in(clones: Path, name: str, message: str = "Read the zone", tests: bool = True) -> tuple[str, str]:
    """Create a clone with one fix; return the commit before it and the fix."""
    path = clones / name / "repo"
    base = make_repository(path, {"zones/io files.py": BROKEN, "tests/test_io.py": "def test():\n    pass\n"})
    changed = {"tests/test_io.py": "def test():\n    assert 1\n"} if tests else {}
    return base, make_repository(path, {"zones/io files.py": FIXED, **changed}, message=message)
