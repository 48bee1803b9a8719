"""LangSmith receives a run's structure, and texts only if the operator allows them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.backtest.story import build, write_issues
from tests.cli.process import triage
from tests.servers.collector import collecting
from tests.support.repositories import make_repository

TEXT = "parse_orders fails with KeyError on an empty file of orders"
TOKEN = "ghp_" + "a1B2" * 9


@pytest.fixture
def place(tmp_path: Path) -> Path:
    make_repository(tmp_path / "app", {"orders.py": "def parse_orders(text):\n    return text['lines']\n"})
    return tmp_path


@pytest.mark.parametrize("allowed", [False, True])
def test_text_is_sent_only_if_allowed(place: Path, allowed: bool) -> None:
    with collecting() as collector:
        settings = {
            "LANGSMITH_TRACING": "true",
            "LANGSMITH_API_KEY": "lsv2_x",
            "LANGSMITH_ENDPOINT": collector.url,
            "LANGSMITH_DISABLE_RUN_COMPRESSION": "true",
            "TRIAGE_TRACE_TEXT": str(allowed).lower(),
        }
        done = triage(place, "run", "--repo", "app", "--text", f"{TEXT} {TOKEN}", **settings)
        sent = collector.everything()
    assert done.returncode == 0, done.stderr
    assert "codebase_search" in sent
    # The supervisor's steps and their confidence are sent in any case (PRD section 7).
    assert ("supervisorRouting" in sent) == (not allowed)
    assert ("supervisor_confidence" in sent) == allowed
    assert ("parse_orders" in sent) == allowed
    assert TOKEN not in sent


def test_nothing_is_sent_without_a_configuration(place: Path) -> None:
    with collecting() as collector:
        triage(place, "run", "--repo", "app", "--text", TEXT, LANGSMITH_ENDPOINT=collector.url, LANGSMITH_API_KEY="x")
        assert collector.bodies == []


@pytest.mark.parametrize("allowed", [False, True])
def test_a_backtest_is_sent_as_an_experiment_with_texts_only_if_allowed(tmp_path: Path, allowed: bool) -> None:
    build(tmp_path / "feed")
    settings = {"LANGSMITH_API_KEY": "lsv2_x", "TRIAGE_TRACE_TEXT": str(allowed).lower(), "HOME": str(tmp_path)}
    asked = ("backtest", "--repo", "feed", "--issues", str(write_issues(tmp_path / "issues.jsonl")), "--json")
    with collecting() as collector:
        done = triage(tmp_path, *asked, LANGSMITH_ENDPOINT=collector.url, **settings)
        again = triage(tmp_path, *asked, LANGSMITH_ENDPOINT=collector.url, **settings)
        sent = [(path, json.loads(body)) for path, body in collector.bodies]
    assert done.returncode == again.returncode == 0, done.stderr
    assert "sent to LangSmith: the dataset `tracehound feed`, 3 issues" in done.stderr
    assert [path for path, _ in sent] == ["/datasets/upload-experiment"] * 2
    first, second = (body for _, body in sent)
    cases = json.loads(done.stdout)["cases"]
    assert first["experiment_name"].startswith("rules ")
    assert {score["key"]: score["score"] for score in first["summary_experiment_scores"]}["hit@1"] == 1.0
    for row, case in zip(first["results"], cases, strict=True):
        assert first["experiment_start_time"] <= row["start_time"] < row["end_time"] < first["experiment_end_time"]
        assert {score["key"]: score["score"] for score in row["evaluation_scores"]}["first_file"] == 1.0
        assert row["inputs"]["issue"] == case["number"]
        assert row["actual_outputs"].get("paths") == (case["ranked"] if allowed else None)
        assert row["inputs"].get("title") == (case["title"] if allowed else None)
    assert [row["row_id"] for row in first["results"]] == [row["row_id"] for row in second["results"]]
    assert ("feed/dates.py" in json.dumps(first)) == allowed


def test_a_backtest_ends_well_without_langsmith(tmp_path: Path) -> None:
    build(tmp_path / "feed")
    asked = ("backtest", "--repo", "feed", "--issues", str(write_issues(tmp_path / "issues.jsonl")))
    with collecting() as collector:
        plain = triage(tmp_path, *asked, LANGSMITH_ENDPOINT=collector.url)
        assert collector.bodies == []
    failed = triage(tmp_path, *asked, LANGSMITH_ENDPOINT="http://127.0.0.1:9", LANGSMITH_API_KEY="lsv2_x")
    assert plain.returncode == failed.returncode == 0
    assert "LangSmith" not in plain.stderr
    assert "LangSmith did not accept the experiment" in failed.stderr
    assert plain.stdout == failed.stdout
