"""A model compared with the rules, and the same comparison again from its recording alone."""

from __future__ import annotations

import gzip
import json
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bot.cli.backtest.paired import by_chance
from bot.cli.backtest.recording import Recording
from bot.errors import UserError
from tests.backtest.story import ISSUES, build, write_issues
from tests.cli.process import triage
from tests.servers.endpoints import ENDPOINTS, answer
from tests.servers.model_server import ModelServer, Reply, Request, error, says, serve, text_of

KEY = "a-key-of-no-known-form"
TOKEN = "ghp_" + "a1" * 18
NETWORK = {"TRIAGE_MODEL_CALLS_PER_MINUTE": "100000", "OPENAI_API_KEY": KEY}


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
    """A model that prefers another place in one issue, and repeats a token and the key."""
    value = answer(request)
    if "save_article fails on" in text_of(request):
        value = json.loads(json.dumps(value).replace("E1", "E3"))
        if "places" in value:
            second = re.findall(r"^(E\d+) \S+$", text_of(request), re.MULTILINE)[1]
            value["places"] = [{"evidence": second, "why": "it is stored there"}]
    if "summary" in value:
        value["summary"] = f"{value['summary']} {TOKEN} {KEY}"
    return says(value)


class Bench:
    """One data directory, and backtests that use it."""

    def __init__(self, folder: Path, story: Path) -> None:
        self.folder, self.story = folder, story
        write_issues(folder / "i.jsonl")

    def run(self, *more: str, data: str = "data", expect: int = 0, **settings: Any) -> tuple[str, str]:
        """Run the command, and return what it printed."""
        arguments = ("backtest", "--repo", str(self.story), "--issues", "i.jsonl", *more)
        done = triage(self.folder, *arguments, TRIAGE_DATA_DIR=str(self.folder / data), **settings)
        assert done.returncode == expect, done.stderr
        return done.stdout, done.stderr

    def live(self, server: ModelServer, *more: str, **settings: str) -> tuple[str, str]:
        given: dict[str, Any] = {**NETWORK, "OPENAI_BASE_URL": server.url, **settings}
        return self.run("--brain", "both", *more, **given)

    @property
    def recording(self) -> Path:
        (found,) = (self.folder / "data" / "backtest").glob("*.requests.gz")
        return found


@pytest.fixture
def bench(tmp_path: Path, story: Path) -> Bench:
    return Bench(tmp_path, story)


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]


def test_a_model_is_compared_by_issue_and_replayed_without_key_and_endpoint(bench: Bench) -> None:
    with serve() as server:
        server.script = candid
        document, message = bench.live(server, "--json", TRIAGE_PRICES="gpt-4o=1000/2000")
        requests = len(server.requests)
        table, _ = bench.live(server, TRIAGE_PRICES="gpt-4o=1000/2000")
        assert len(server.requests) == requests  # the stored results are used
    assert str(bench.recording) in message
    read = json.loads(document)
    assert read["issues"] == 3
    assert read["compared"]["first_place"] == {
        "engine": 3,
        "model": 2,
        "only_model": [],
        "only_engine": [2],
        "chance": 1.0,
    }
    assert "First place broken: #2 (1 → 2)" in table
    assert read["cost"]["calls"] == requests
    assert read["cost"]["dollars"] == requests * (100 * 1000 + 20 * 2000) / 1_000_000
    assert f"${read['cost']['dollars']:.2f}" in table
    pair = next(pair for pair in read["pairs"] if pair["number"] == 2)
    assert (pair["agree"], 0 < pair["engine_probability"] < 1) == (False, True)
    assert pair["model"]["own_confidence"] is not None
    # A data directory of its own, no key, and no server listens any more.
    again = bench.run("--brain", "both", "--replay", str(bench.recording), "--json", data="other")[0]
    assert again == document
    assert bench.run("--brain", "both", "--replay", str(bench.recording), data="other")[0] == table
    alone = json.loads(bench.run("--replay", str(bench.recording), "--json", data="other")[0])
    assert alone["hits"]["1"] == round(2 / 3, 4)
    assert alone["cost"]["calls"] == requests


def test_a_recording_is_private_and_contains_no_secret(bench: Bench, model: ModelServer) -> None:
    model.script = candid
    write_issues(bench.folder / "i.jsonl", {2: (ISSUES[2][0], f"{ISSUES[2][1]} My token is {TOKEN}.")})
    bench.live(model)
    assert stat.S_IMODE(bench.recording.stat().st_mode) == 0o600
    content = gzip.decompress(bench.recording.read_bytes()).decode()
    assert TOKEN not in content
    assert KEY not in content
    assert "[masked]" in content
    rows = [row for row in lines_of(bench.recording) if "request" in row]
    assert len(rows) == len(model.requests)
    assert all(json.loads(row["request"])["messages"] for row in rows)
    assert {name for row in rows for name, _ in row["headers"]} == {"content-type"}


@pytest.mark.parametrize(
    "endpoint",
    [
        pytest.param(one, id=one.name.replace(" ", "-"))
        for one in ENDPOINTS
        if one.first or not one.temperature or one.usage or one.method != "json_schema"
    ][::5],
)
def test_learnt_abilities_of_an_endpoint_are_replayed(bench: Bench, endpoint: Any, model: ModelServer) -> None:
    model.script = endpoint.script()
    write_issues(bench.folder / "i.jsonl", {1: ISSUES[1], 2: ISSUES[2]})
    settings = {"TRIAGE_MODEL": endpoint.model, "TRIAGE_SUPERVISOR_MODEL": endpoint.model}
    document, _ = bench.live(model, "--json", **settings)
    known = [row["known"][endpoint.model] for row in lines_of(bench.recording) if "known" in row]
    # What the first issue taught is stored, so the second issue of the recording begins with it.
    assert known[1:] == [None if not (bench.folder / "data" / "models.json").exists() else known[-1]]
    assert bench.run("--brain", "both", "--replay", str(bench.recording), "--json", data="other")[0] == document


def test_missing_responses_are_replayed_as_missing(bench: Bench, model: ModelServer) -> None:
    model.script = [Reply({}, delay=1.5)]
    write_issues(bench.folder / "i.jsonl", {2: ISSUES[2]})
    document, _ = bench.live(model, "--json", TRIAGE_MODEL_TIMEOUT="0.2")
    assert json.loads(document)["cost"]["fell_back"] == 1
    assert {row["fault"] for row in lines_of(bench.recording) if "fault" in row} == {"timeout"}
    assert bench.run("--brain", "both", "--replay", str(bench.recording), "--json", data="other")[0] == document


def test_only_the_interrupted_issue_is_sent_again(bench: Bench, model: ModelServer) -> None:
    model.script = candid
    document, _ = bench.live(model, "--json")
    whole = bench.recording.read_bytes()
    bench.recording.write_bytes(whole[:-100])
    requests = len(model.requests)
    bench.live(model, "--json")
    heads = [row for row in lines_of(bench.recording) if "case" in row]
    assert [row["number"] for row in heads] == [1, 2, 3]
    assert len(model.requests) == requests + heads[-1]["requests"]
    again = bench.run("--brain", "both", "--replay", str(bench.recording), "--json", data="other")[0]
    assert json.loads(again)["compared"] == json.loads(document)["compared"]


def test_each_issue_has_the_limits_of_a_run(bench: Bench, model: ModelServer) -> None:
    model.script = candid
    document, _ = bench.live(model, "--json", TRIAGE_LIMITS_RUN="calls=10")
    cost = json.loads(document)["cost"]
    assert (cost["fell_back"], cost["calls"] > 10) == (0, True)


def test_a_replay_names_what_its_recording_lacks(bench: Bench, model: ModelServer, tmp_path: Path) -> None:
    model.script = candid
    write_issues(bench.folder / "i.jsonl", {2: ISSUES[2]})
    bench.live(model)
    replay = ("--brain", "both", "--replay")
    rows = lines_of(bench.recording)
    del rows[-1]
    rows[1]["requests"] -= 1
    shorter = tmp_path / "shorter.gz"
    members = ([rows[0]], rows[1:])
    shorter.write_bytes(b"".join(gzip.compress("".join(json.dumps(r) + "\n" for r in m).encode()) for m in members))
    assert "a request about issue #2 is not in" in bench.run(*replay, str(shorter), data="other", expect=2)[1]
    write_issues(bench.folder / "i.jsonl", {2: ("Another title", ISSUES[2][1])})
    assert "has no issue #2" in bench.run(*replay, str(bench.recording), data="other", expect=2)[1]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        pytest.param(b"", "not a recording", id="empty"),
        pytest.param(b'{"recording": 1}', "not a recording", id="not-compressed"),
        pytest.param(gzip.compress(b"[1]\n"), "not a recording", id="other-json"),
        pytest.param(gzip.compress(b'{"recording": 9, "settings": {}}\n'), "another release", id="other-version"),
        pytest.param(gzip.compress(b"\0" * 70_000_000), "not a recording", id="bomb"),
        pytest.param(gzip.compress(b'{"case": "x"}\n'), "not a recording", id="no-settings"),
    ],
)
def test_a_file_other_than_a_recording_is_refused(tmp_path: Path, content: bytes, says: str) -> None:
    file = tmp_path / "x.gz"
    file.write_bytes(content)
    with pytest.raises(UserError, match=says):
        Recording.load(file)


@pytest.mark.parametrize(
    ("more", "says"),
    [
        pytest.param(("--brain", "rules", "--replay", "x"), "give llm or both", id="rules"),
        pytest.param(("--fresh", "--replay", "x"), "changes no recording", id="fresh"),
        pytest.param(("--replay", "x"), "cannot read x", id="no-file"),
        pytest.param(("--brain", "both"), "OPENAI_API_KEY", id="no-key"),
    ],
)
def test_incompatible_options_are_refused_in_one_line(bench: Bench, more: tuple[str, ...], says: str) -> None:
    _, message = bench.run(*more, expect=2)
    assert (says in message, len(message.splitlines())) == (True, 1), message


def test_an_endless_response_is_a_lost_connection(bench: Bench, model: ModelServer) -> None:
    model.script = [Reply({"x": "y" * 4_100_000}), error(400)]
    write_issues(bench.folder / "i.jsonl", {2: ISSUES[2]})
    document, _ = bench.live(model, "--json")
    assert json.loads(document)["cost"]["fell_back"] == 1
    assert bench.recording.stat().st_size < 1_000_000


@pytest.mark.parametrize(
    ("better", "worse", "chance"), [(0, 0, 1.0), (1, 0, 1.0), (6, 2, 0.2890625), (5, 0, 0.0625), (1, 10, 0.01171875)]
)
def test_the_sign_test_has_the_binomial_probability(better: int, worse: int, chance: float) -> None:
    assert by_chance(better, worse) == chance
    assert by_chance(700 + better, 700 + better) == 1.0
