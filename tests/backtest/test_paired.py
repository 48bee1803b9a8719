"""A model compared with the rules on the same issues."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.backtest.story import build, write_issues
from tests.cli.process import triage
from tests.servers.endpoints import answer
from tests.servers.model_server import ModelServer, Reply, Request, says, serve, text_of

NETWORK = {"TRIAGE_MODEL_CALLS_PER_MINUTE": "100000", "OPENAI_API_KEY": "k"}


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("story") / "feed"
    build(path)
    return path


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with serve() as server:
        yield server


def candid(request: Request) -> Reply:
    """A model that prefers another place in one issue."""
    value = answer(request)
    if "save_article fails on" in text_of(request):
        value = json.loads(json.dumps(value).replace("E1", "E3"))
        if "places" in value:
            second = re.findall(r"^(E\d+) \S+$", text_of(request), re.MULTILINE)[1]
            value["places"] = [{"evidence": second, "why": "it is stored there"}]
    return says(value)


@pytest.fixture
def bench(tmp_path: Path, story: Path, model: ModelServer) -> Callable[..., tuple[str, str]]:
    write_issues(tmp_path / "i.jsonl")

    def run(*more: str, expect: int = 0, **settings: Any) -> tuple[str, str]:
        arguments = ("backtest", "--repo", str(story), "--issues", "i.jsonl", "--brain", "llm", *more)
        given = {**NETWORK, "OPENAI_BASE_URL": model.url, "TRIAGE_DATA_DIR": str(tmp_path / "data"), **settings}
        done = triage(tmp_path, *arguments, **given)
        assert done.returncode == expect, done.stderr
        return done.stdout, done.stderr

    return run


def test_a_model_is_compared_by_issue_and_asked_once(bench: Callable[..., tuple[str, str]], model: ModelServer) -> None:
    model.script = candid
    read = json.loads(bench("--json", TRIAGE_PRICES="gpt-4o=1000/2000")[0])
    requests = len(model.requests)
    table, _ = bench(TRIAGE_PRICES="gpt-4o=1000/2000")
    assert len(model.requests) == requests  # the stored results are used
    assert (read["issues"], read["hits"]["1"], read["rules"]["hits"]["1"]) == (3, round(2 / 3, 4), 1.0)
    assert read["cost"]["calls"] == requests
    assert read["cost"]["dollars"] == requests * (100 * 1000 + 20 * 2000) / 1_000_000
    assert f"${read['cost']['dollars']:.2f}" in table
    first = next(line for line in table.splitlines() if "in first place" in line)
    assert first.split()[-4:] == ["3", "(100%)", "2", "(67%)"]


def test_a_changed_limit_asks_again(bench: Callable[..., tuple[str, str]], model: ModelServer) -> None:
    model.script = candid
    costs = [json.loads(bench("--json", TRIAGE_LIMITS_RUN=f"calls={most}")[0])["cost"] for most in (10, 1)]
    assert [cost["fell_back"] for cost in costs] == [0, 3]
    assert costs[0]["calls"] > 10  # the limit is for each issue


def test_a_missing_key_is_reported_in_one_line(bench: Callable[..., tuple[str, str]]) -> None:
    _, message = bench(expect=2, OPENAI_API_KEY="", OPENAI_BASE_URL="")
    assert ("OPENAI_API_KEY" in message, len(message.splitlines())) == (True, 1), message
