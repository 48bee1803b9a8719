"""Counts the attacks that tests try, for docs/security.md.

A test that tries attacks carries a marker: ``@pytest.mark.tried("what is tried")``. Its cases are counted as pytest
collects them, so a longer table of cases needs no further work; a property test counts its random examples. Where one
case stands for many attacks, ``each=`` says how many. ``docs/generate.py`` writes the table.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import hypothesis
import pytest

ROOT = Path(__file__).parents[2]
_SAYS = "TRIED "
_PLUGINS = ("-p", "pytest_asyncio.plugin", "-p", "pytest_timeout", "-p", "pytest_socket", "-p", "tests.support.tried")


@dataclass
class Tried:
    """One row of the table."""

    what: str
    cases: int = 0
    examples: int = 0
    """Number of random examples, of property tests."""
    files: set[str] = field(default_factory=set)


def count() -> list[Tried]:
    """Collect the tests that carry the marker and count their cases, in alphabetical order.

    Raises:
        RuntimeError: the tests cannot be collected.
    """
    files = [str(path.relative_to(ROOT)) for path in marked()]
    command = [sys.executable, "-m", "pytest", "--collect-only", "--quiet", *_PLUGINS]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # half of the time would go into plugins
    done = subprocess.run([*command, *files], cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith(_SAYS)]
    if done.returncode or not lines:
        raise RuntimeError(f"the tests cannot be collected:\n{done.stdout[-2_000:]}{done.stderr[-2_000:]}")
    rows = json.loads(lines[0].removeprefix(_SAYS))
    return [Tried(what, cases, examples, set(files)) for what, cases, examples, files in rows]


def marked() -> Iterator[Path]:
    """Return the test files in which the marker is used."""
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        if "mark.tried(" in path.read_text(encoding="utf-8"):
            yield path


def table(rows: Iterable[Tried]) -> Iterator[str]:
    """Return the lines of a Markdown table."""
    yield "| What was tried | Cases | Random examples | Tests |"
    yield "|---|---:|---:|---|"
    for row in rows:
        files = ", ".join(f"`{name}`" for name in sorted(row.files))
        yield f"| {row.what} | {_rounded(row.cases)} | {_rounded(row.examples)} | {files} |"


def _rounded(number: int) -> str:
    # Two branches that each add a case would otherwise conflict in the page.
    step = 500 if number >= 1_000 else 100
    return f"{number // step * step:,}+" if number >= step else str(number or "")


def pytest_collection_finish(session: pytest.Session) -> None:
    """Print the counts as one line that ``count`` reads."""
    found: dict[str, Tried] = {}
    for item in session.items:
        for marker in item.iter_markers("tried"):
            _add(found.setdefault(marker.args[0], Tried(marker.args[0])), item, marker.kwargs.get("each", 1))
    rows = [(row.what, row.cases, row.examples, sorted(row.files)) for row in found.values()]
    print(_SAYS + json.dumps(sorted(rows)))


def _add(row: Tried, item: pytest.Item, each: int) -> None:
    row.files.add(item.path.relative_to(ROOT / "tests").as_posix())
    test = getattr(item, "obj", None)
    if hypothesis.is_hypothesis_test(test):
        # Hypothesis has no other public access to the settings of a test.
        row.examples += test._hypothesis_internal_use_settings.max_examples
    else:
        row.cases += each
