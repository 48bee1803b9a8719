"""The history that agents get: suspect changes with their range, and the people who know the code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bot.cli.local.mcp import RepositoryTools
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


@pytest.fixture
def tools(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RepositoryTools:
    monkeypatch.setenv("TRIAGE_DATA_DIR", str(tmp_path / "data"))
    return RepositoryTools({"r": str(repository)})


async def test_suspect_changes_have_their_range_and_reasons(tools: RepositoryTools) -> None:
    found = await tools.suspect_changes(ISSUE + TRACE)
    assert set(found) == {"suspect_changes", "range", "inconclusive"}
    assert found["range"] == {"words": "1.0 → 1.1", "commits": 1}
    assert found["inconclusive"] is None
    change = found["suspect_changes"][0]
    assert (change["author"], change["date"], change["basis"]) == ("Bob", "2024-02-01", "versions")
    assert sum(reason["contribution"] for reason in change["reasons"]) == pytest.approx(change["score"], abs=1e-4)


async def test_people_have_names_without_addresses(tools: RepositoryTools) -> None:
    found = await tools.who_knows(ISSUE + TRACE)
    assert {owner["name"] for owner in found["owners"]} == {"Ann", "Bob"}
    assert "example.org" not in json.dumps(found)


async def test_without_a_version_no_change_is_suspected(tools: RepositoryTools) -> None:
    found = await tools.suspect_changes("parse_header raises no colon")
    assert found["suspect_changes"] == []
    assert found["inconclusive"]["reason"] == "no_version"
