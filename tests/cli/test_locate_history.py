"""``triage locate --history`` as text and as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.process import triage
from tests.search.history.story import BOB, Story

PARSER = "def parse_header(line):\n    if ':' not in line:\n        raise ValueError('no colon')\n    return {}\n"
ISSUE = "parse_header raises no colon\n\nValueError: no colon. It worked in 1.0 and is broken in 1.1."
TRACE = (
    '\n\nTraceback (most recent call last):\n  File "/x/pkg/parser.py", line 3, in parse_header\nValueError: no colon\n'
)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    story = Story()
    first = story.commit("2024-01-01", {"pkg/parser.py": PARSER.format("line"), "pkg/main.py": "import pkg.parser\n"})
    story.tag("v1.0", first)
    second = story.commit(
        "2024-02-01", {"pkg/parser.py": PARSER.format("line.split(':')")}, "Split \x1b[31mheaders", author=BOB
    )
    story.tag("v1.1", second)
    return story.build(tmp_path / "r")


def document(tmp_path: Path, repository: Path, issue: str, *options: str) -> dict[str, Any]:
    done = triage(tmp_path, "locate", "--repo", str(repository), "--text", issue, "--json", *options)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    del found["seconds"]
    return dict(found)


def test_the_history_is_printed_only_on_request(tmp_path: Path, repository: Path) -> None:
    plain = document(tmp_path, repository, ISSUE)
    whole = document(tmp_path, repository, ISSUE, "--history")
    added = {"suspect_changes", "recent_changes", "range", "inconclusive", "owners", "fingerprints"}
    assert set(whole) - set(plain) == added
    assert {key: whole[key] for key in plain} == plain


def test_json_contains_suspects_owners_and_fingerprints(tmp_path: Path, repository: Path) -> None:
    found = document(tmp_path, repository, ISSUE + TRACE, "--history")
    assert found["range"] == {"words": "1.0 → 1.1", "commits": 1}
    assert (found["inconclusive"], found["recent_changes"]) == (None, [])
    change = found["suspect_changes"][0]
    assert (change["author"], change["date"], change["basis"]) == ("Bob", "2024-02-01", "versions")
    assert sum(reason["contribution"] for reason in change["reasons"]) == pytest.approx(change["score"], abs=1e-4)
    assert {owner["name"] for owner in found["owners"]} == {"Ann", "Bob"}
    assert found["fingerprints"][0]["frames"] == ["pkg/parser:parse_header"]
    assert "example.org" not in json.dumps(found)


def test_the_text_gives_reasons_and_no_control_character(tmp_path: Path, repository: Path) -> None:
    done = triage(tmp_path, "locate", "--repo", str(repository), "--text", ISSUE, "--history")
    assert "Suspect changes (1 commit in 1.0 → 1.1), not bisected:" in done.stdout
    assert "Split \\x1b[31mheaders" in done.stdout
    assert "\x1b" not in done.stdout


def test_without_a_version_no_change_is_suspected(tmp_path: Path, repository: Path) -> None:
    issue = "parse_header raises no colon"
    found = document(tmp_path, repository, issue, "--history")
    assert found["suspect_changes"] == []
    assert found["inconclusive"]["reason"] == "no_version"
    assert [change["basis"] for change in found["recent_changes"]] == ["recent"] * len(found["recent_changes"])
    done = triage(tmp_path, "locate", "--repo", str(repository), "--text", issue, "--history")
    assert (
        "No change is suspected: no sentence was found that says in which version or since when it broke."
        in done.stdout
    )
