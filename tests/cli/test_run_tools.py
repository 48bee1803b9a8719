"""A run on the command line with the operator's file: a real MCP server over its standard streams."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.process import triage
from tests.support.repositories import make_repository

FILES = {
    "src/lexer.py": "def scan(text):\n    while True:\n        if text.quote:\n            advance()\n",
    "src/reader.py": "def read(path):\n    return scan(open(path).read())\n",
}
TITLE, BODY = "scan hangs on an open quote", "`scan` hangs when a quote is never closed. The handbook says otherwise."
SERVER = Path(__file__).parents[1] / "sources" / "mcp_server.py"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tools")
    make_repository(folder / "app", FILES)
    return folder


def run(place: Path, config: str | None) -> dict[str, Any]:
    given = {"TRIAGE_DATA_DIR": str(place / "data")}
    if config is not None:
        (place / "operator.yml").write_text(config)
        given["TRIAGE_CONFIG"] = str(place / "operator.yml")
    arguments = ("run", "--repo", "app", "--title", TITLE, "--text", BODY, "--brain", "rules", "--format", "json")
    done = triage(place, *arguments, **given)
    assert (done.returncode, done.stderr) == (0, "")
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def configured(keyword: str, *command: str) -> str:
    tool = {"command": [sys.executable, *command], "keywords": [keyword]}
    return json.dumps({"tools": {"document_retriever": tool}})


@pytest.fixture(scope="module")
def plain(place: Path) -> dict[str, Any]:
    """Return the result without any configuration."""
    return run(place, None)


def test_a_tools_result_is_marked_as_unchecked(place: Path, plain: dict[str, Any]) -> None:
    result = run(place, configured("handbook", str(SERVER)))
    named = [source["address"] for source in result["report"]["outside"]]
    assert named == [
        "https://docs.example.org/quoting",
        "mcp:document_retriever/runbook.md",
        "mcp:document_retriever/3",
    ]
    assert "Outside this repository, not checked" in result["report"]["github_comment"]
    spans = {entry["node"]: entry["timing"] for entry in result["trace"] if "timing" in entry}
    assert set(spans) == {"codebase_search", "document_retriever"}
    ranked, before = ([(one["path"], one["score"]) for one in of["report"]["suspects"]] for of in (result, plain))
    assert ranked == before


def test_an_unused_tool_does_not_change_the_report(place: Path, plain: dict[str, Any]) -> None:
    unasked = run(place, configured("accounts", str(SERVER)))
    assert unasked["report"] == plain["report"]
    assert "Outside" not in plain["report"]["github_comment"]
