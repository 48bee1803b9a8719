"""Reports with known fixes are collected from real clones, without what must not be trained on."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.repositories import make_repository

BODY = "When a file has no time zone, load returns the wrong hour, although the zone is in its first line. " * 2
BROKEN = "import os\n\n\ndef load(path):\n    zone = None\n    return zone\n\n\ndef save(path):\n    return path\n"
FIXED = BROKEN.replace("zone = None", "zone = first_line(path)")
CLOSING = """fix(zones): wrong hour if the file has no time zone

Reading a file without a time zone returned the wrong hour and the caller failed later with an unclear error.
We now read first_line of the file instead.

Fixes #7
Signed-off-by: T <t@example.org>
"""


def _denchmark(repository: str, fix: str, number: str = "5", body: str = BODY) -> dict[str, Any]:
    report = {"BR_id": number, "BR_text": {"BRsummary": "Wrong hour", "BRdescription": body}}
    name = f"JSonSet/fulljson/{repository.lower().replace('/', '+')}/{number}.json"
    return {name: json.dumps({"BR": report, "commit": {"commit_id": fix}})}


@pytest.fixture
def clones(tmp_path: Path) -> Path:
    return tmp_path / "clones"


def _collect(clones: Path, development: list[dict[str, Any]] | None = None) -> list[dict[str, Any]]:
    folder = clones.parent
    (folder / "dev.jsonl").write_text("".join(json.dumps(row) + "\n" for row in development or []))
    command = [sys.executable, "-m", "benchmarks.ranking.labels.collect", "--clones", str(clones)]
    files = {"development": "dev.jsonl", "rows": "rows.jsonl", "table": "table.csv"}
    options = [part for name, file in files.items() for part in (f"--{name}", str(folder / file))]
    subprocess.run([*command, *options], check=True, capture_output=True, timeout=120)
    return [json.loads(line) for line in (folder / "rows.jsonl").read_text().splitlines()]


def _fixed_in(clones: Path, name: str, message: str = "Read the zone", tests: bool = True) -> tuple[str, str]:
    """Create a clone with one fix; return the commit before it and the fix."""
    path = clones / name / "repo"
    base = make_repository(path, {"zones/io files.py": BROKEN, "tests/test_io.py": "def test():\n    pass\n"})
    changed = {"tests/test_io.py": "def test():\n    assert 1\n"} if tests else {}
    return base, make_repository(path, {"zones/io files.py": FIXED, **changed}, message=message)


def test_a_report_gets_the_files_and_functions_of_its_fix(clones: Path) -> None:
    base, fix = _fixed_in(clones, "Acme+zones")
    text = f"<denchmark-h:h2>Bug</denchmark-h>\n{BODY}\n<denchmark-code>load('a &lt; b')</denchmark-code>"
    make_repository(clones / "RosePasta+Denchmark_BRs" / "repo", _denchmark("acme/zones", fix, body=text))
    (row,) = _collect(clones)
    assert (row["repo"], row["base_commit"], row["source"], row["weight"]) == ("acme/zones", base, "denchmark", 1.0)
    assert (row["gold_files"], row["gold_functions"]) == (["zones/io files.py"], ["zones/io files.py::load"])
    assert row["issue"].startswith("Wrong hour\n\n")
    assert "denchmark" not in row["issue"]
    assert "```\nload('a < b')\n```" in row["issue"]


def test_the_table_contains_labels_and_no_text(clones: Path) -> None:
    _, fix = _fixed_in(clones, "acme+zones")
    make_repository(clones / "RosePasta+Denchmark_BRs" / "repo", _denchmark("acme/zones", fix))
    _collect(clones)
    table = (clones.parent / "table.csv").read_text()
    (row,) = csv.DictReader(table.splitlines())
    assert row["gold_files"].split("|") == ["zones/io files.py"]
    assert "hour" not in table


def test_a_message_that_closes_an_issue_is_a_weak_label_without_its_fix(clones: Path) -> None:
    _fixed_in(clones, "acme+zones", CLOSING)
    (row,) = _collect(clones)
    assert (row["source"], row["weight"]) == ("commit", 0.4)
    assert row["issue"].startswith("wrong hour if the file has no time zone\n\nReading a file")
    for part in ("first_line", "Signed-off", "#7", "fix("):
        assert part not in row["issue"]


@pytest.mark.parametrize(
    ("name", "development"),
    [
        ("acme+ripgrep", {}),
        ("acme+zones", {"repo": "other/zones", "issue": "x"}),
        ("acme+zones", {"repo": "other/hours", "issue": f"Wrong hour\n\n{BODY}"}),
    ],
    ids=["held back for judging", "repository of a development set", "text of a development set"],
)
def test_held_back_issues_are_never_a_row(clones: Path, name: str, development: dict[str, str]) -> None:
    _, fix = _fixed_in(clones, name)
    make_repository(clones / "RosePasta+Denchmark_BRs" / "repo", _denchmark(name.replace("+", "/"), fix))
    rows = [{"id": "a-1", "base_commit": "0" * 40, **development}] if development else []
    assert _collect(clones, rows) == []


def test_a_report_without_its_commit_or_its_source_is_left_out(clones: Path) -> None:
    _fixed_in(clones, "acme+zones")
    _, docs = _fixed_in(clones, "acme+hours")
    tests_only = {"zones/io files.py": FIXED, "tests/test_io.py": "def test():\n    assert 2\n"}
    only_tests = make_repository(clones / "acme+hours" / "repo", tests_only)
    reports = _denchmark("acme/zones", "1" * 40) | _denchmark("acme/none", docs) | _denchmark("acme/hours", only_tests)
    reports["JSonSet/fulljson/acme+zones/9.json"] = "{not json"
    make_repository(clones / "RosePasta+Denchmark_BRs" / "repo", reports)
    assert _collect(clones) == []
