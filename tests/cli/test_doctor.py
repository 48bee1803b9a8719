"""``triage doctor`` names each fault with its fix, and confirms what is correct."""

from __future__ import annotations

import json
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from bot.cli.doctor.checks import MAX_CALLS
from bot.cli.server.doctor import command as doctor
from bot.settings.environment import Settings
from bot.settings.retired import MOVED
from nodes.described import field_docs
from tests.servers.github_server import Fault, GitHubServer, private_key, serve_github
from tests.servers.github_world import APP_ID, Repo
from tests.servers.model_server import Reply, Request, error, says
from tests.servers.model_server import serve as serve_model
from tests.support.repositories import make_repository

SERVER = Path(__file__).parents[1] / "sources" / "mcp_server.py"


@pytest.fixture(scope="module")
def github() -> Iterator[GitHubServer]:
    with serve_github() as server:
        yield server


@pytest.fixture(scope="module")
def repo(github: GitHubServer, tmp_path_factory: pytest.TempPathFactory) -> Repo:
    origin = tmp_path_factory.mktemp("origin")
    head = make_repository(origin, {"app.py": "x = 1\n"})
    return github.world.repository("octo/app", git=origin, head=head, labels={"bug", "question"})


@pytest.fixture
def app(github: GitHubServer) -> dict[str, str]:
    return {
        "GITHUB_APP_ID": str(APP_ID),
        "GITHUB_PRIVATE_KEY": private_key(),
        "GITHUB_WEBHOOK_SECRET": "secret",
        "GITHUB_API_URL": github.url,
        "GITHUB_SERVER_URL": github.url,
        "TRIAGE_PUBLIC_URL": "https://triage.example.org",
    }


Told = Callable[..., tuple[int, dict[str, dict[str, Any]]]]


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Told:
    """Return the doctor's lines by checked item, and its exit code."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str, **settings: str) -> tuple[int, dict[str, dict[str, Any]]]:
        for name, value in settings.items():
            monkeypatch.setenv(name, value)
        done = CliRunner().invoke(doctor, ("--json", *arguments))
        assert done.stdout, done.exception
        return done.exit_code, {check["name"]: check for check in json.loads(done.stdout)}

    return run


def test_a_valid_app_is_reported_as_valid(github: GitHubServer, repo: Repo, app: dict[str, str], told: Told) -> None:
    repo.files[".github/triage.yml"] = "labels:\n  allowed: [bug]\n"
    code, checks = told("--github", "octo/app", **app)
    assert code == 0, [check for check in checks.values() if not check["ok"]]
    assert {"App's permissions", "App's events", "App's webhook", "octo/app", "its labels", "git"} <= checks.keys()
    assert github.asked("POST", "/issues") == []


THERE = "https://triage.example.org/webhooks/github"
ELSEWHERE = {"url": "https://other.example.org/webhooks/github"}
UNCHECKED = {"url": THERE, "insecure_ssl": "1"}
LESS = {"metadata": "read", "contents": "read", "issues": "read"}


@pytest.mark.parametrize(
    ("fault", "name", "mend"),
    [
        pytest.param({"permissions": LESS}, "App's permissions", "issues: write", id="permission"),
        pytest.param({"events": ["issues"]}, "App's events", "issue_comment", id="event"),
        pytest.param({"hook": ELSEWHERE}, "App's webhook", "TRIAGE_PUBLIC_URL", id="address"),
        pytest.param({"hook": UNCHECKED}, "App's webhook", "certificate", id="certificate"),
    ],
)
def test_missing_permissions_and_events_of_the_app_are_named(
    github: GitHubServer, app: dict[str, str], told: Told, fault: dict[str, Any], name: str, mend: str
) -> None:
    github.world.registration |= fault
    try:
        code, checks = told(**app)
    finally:
        github.world.registration.clear()
    assert code == 1
    assert not checks[name]["ok"]
    assert mend in checks[name]["says"]


def test_faults_of_a_repositorys_configuration_are_named(repo: Repo, app: dict[str, str], told: Told) -> None:
    repo.files[".github/triage.yml"] = "labels:\n  map:\n    needs-answer: needs info\n"
    code, checks = told("--github", "octo/app", **app)
    assert (code, "needs info" in checks["its labels"]["says"]) == (1, True)
    repo.files[".github/triage.yml"] = "moed: comment\n"
    code, checks = told("--github", "octo/app", **app)
    assert (code, "moed" in checks["its configuration"]["says"]) == (1, True)
    code, checks = told("--github", "octo/nowhere", **app)
    assert (code, checks["octo/nowhere"]["ok"]) == (1, False)


def test_another_apps_key_is_reported_as_unknown(app: dict[str, str], told: Told) -> None:
    code, checks = told(**{**app, "GITHUB_APP_ID": "1"})
    assert (code, checks["App"]["ok"]) == (1, False)


def test_what_the_app_lacks_is_named_as_serve_names_it(app: dict[str, str], told: Told, tmp_path: Path) -> None:
    (tmp_path / "key").write_text("k")
    given = {"GITHUB_APP_ID": app["GITHUB_APP_ID"], "GITHUB_PRIVATE_KEY_PATH": str(tmp_path / "key")}
    code, checks = told(**given)
    assert code == 1
    assert "PEM" in checks["GITHUB_PRIVATE_KEY_PATH"]["says"]
    assert {"GITHUB_WEBHOOK_SECRET"} < {name for name, check in checks.items() if not check["ok"]}


def test_an_app_that_setup_stored_is_checked(app: dict[str, str], told: Told, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    stored = {name.lower(): value for name, value in app.items()}
    (tmp_path / "data" / "app.json").write_text(json.dumps(stored))
    code, checks = told(TRIAGE_DATA_DIR=str(tmp_path / "data"))
    assert checks["App's permissions"]["ok"], checks["App"]
    assert code == 0
    (tmp_path / "data" / "app.json").write_text("{")
    code, checks = told(TRIAGE_DATA_DIR=str(tmp_path / "data"))
    assert (code, checks["git"]["ok"]) == (1, True)


def test_a_wrong_clock_and_a_full_disk_are_named(github: GitHubServer, app: dict[str, str], told: Told) -> None:
    date = formatdate(time.time() - 7_200, usegmt=True)
    github.fail("GET", "/app", Fault(status=401, headers={"Date": date}, message="'exp' is wrong"))
    code, checks = told(**app, TRIAGE_FREE_MB="900000000")
    assert code == 1
    assert "clock is 2:0" in checks["App"]["says"]
    assert "TRIAGE_FREE_MB" in checks["disk space"]["says"]
    assert not checks["disk space"]["ok"]


def able(request: Request) -> Reply:
    """Return the reply of a model that answers and counts its input."""
    said = "".join(str(message["content"]) for message in request["messages"])
    usage = {"prompt_tokens": len(said) // 4, "completion_tokens": 5}
    return Reply({**says({"word": "ready"}).body, "usage": {**usage, "total_tokens": sum(usage.values())}})


def prose(request: Request) -> Reply:
    return says("ready, boss")


def short(request: Request) -> Reply:
    said = "".join(str(message["content"]) for message in request["messages"])
    return error(400, "maximum context length is 4096 tokens") if len(said) > 20_000 else able(request)


def warm(request: Request) -> Reply:
    return error(400, "temperature: only 1 is allowed") if "temperature" in request else able(request)


@pytest.mark.parametrize(
    ("script", "wrong", "advice"),
    [
        pytest.param(able, set(), "", id="able"),
        pytest.param(short, {"gpt-4o's context"}, "has a window of 4,096 tokens", id="a-short-context"),
        pytest.param(warm, set(), "takes no temperature, so decisions may differ", id="no-temperature"),
        pytest.param(
            lambda _request: says("ready, boss"),
            {"gpt-4o", "gpt-4o's context"},
            "no answer in a fixed form",
            id="prose-only",
        ),
    ],
)
def test_abilities_of_a_model_are_probed(told: Told, script: Any, wrong: set[str], advice: str) -> None:
    with serve_model() as model:
        model.script = script
        code, checks = told(OPENAI_BASE_URL=model.url, OPENAI_API_KEY="sk-x")
        assert len(model.requests) <= MAX_CALLS
        assert {name for name, check in checks.items() if not check["ok"]} == wrong
        assert code == (1 if wrong else 0)
        assert advice in " ".join(check["says"] for check in checks.values())
        before = len(model.requests)
        told("--no-calls", OPENAI_BASE_URL=model.url, OPENAI_API_KEY="sk-x")
        assert len(model.requests) == before


def test_a_store_of_a_newer_release_and_a_failing_tool_are_reported(tmp_path: Path, told: Told) -> None:
    (tmp_path / "data").mkdir()
    with sqlite3.connect(tmp_path / "data" / "store.db") as db:
        db.execute("PRAGMA user_version = 9999")
    db.close()
    tools = {
        "here": {"command": [sys.executable, str(SERVER)]},
        "gone": {"command": ["/no/such/program"]},
    }
    (tmp_path / "operator.yml").write_text(json.dumps({"tools": tools}))
    code, checks = told(TRIAGE_CONFIG=str(tmp_path / "operator.yml"))
    assert code == 1
    assert "newer release" in checks["store"]["says"]
    assert {name for name, check in checks.items() if not check["ok"]} == {"store", "tool gone"}


@pytest.fixture
def printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """Return the lines that a person reads."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str, **settings: str) -> list[str]:
        for name, value in settings.items():
            monkeypatch.setenv(name, value)
        return CliRunner().invoke(doctor, arguments).stdout.splitlines()

    return run


def test_a_valid_installation_takes_ten_lines_at_most(
    repo: Repo, app: dict[str, str], printed: Callable[..., list[str]]
) -> None:
    repo.files[".github/triage.yml"] = "labels:\n  allowed: [bug]\n"
    with serve_model() as model:
        model.script = able
        settings = {**app, "OPENAI_BASE_URL": model.url, "OPENAI_API_KEY": "sk-x"}
        lines = printed("--github", "octo/app", **settings)
    assert [line[:16].split() for line in lines[:-1]] == [
        ["ok", "machine"],
        ["ok", "settings"],
        ["ok", "App"],
        ["ok", "model"],
        ["ok", "repository"],
    ]
    assert lines[-1].startswith("No fault in ")
    text = "\n".join(lines)
    assert "GITHUB_APP_ID" in text
    assert "App's permissions are as in app.yml; App's events are as in app.yml; App's webhook goes to http" in text
    assert "the optional permission pull_requests: read would allow it" in text
    assert "gpt-4o answers in a fixed form (json_schema), at temperature 0" in text
    assert "its configuration has mode comment; its labels exist" in text


def test_faults_come_first_and_are_counted(printed: Callable[..., list[str]]) -> None:
    lines = printed(TRIAGE_BRAIN="llmm", PORT="zz", TRIAGE_API_TOKEN="short")
    assert [line.split()[1] for line in lines[:3]] == ["TRIAGE_BRAIN", "TRIAGE_API_TOKEN", "PORT"]
    assert all(line.startswith("FAIL") for line in lines[:3])
    assert "must have at least 16 characters" in lines[1]
    settings = next(line for line in lines[3:] if line.startswith("ok   settings"))
    assert settings.endswith("the others at their defaults")
    assert not any(line.startswith("FAIL") for line in lines[3:])
    assert lines[-1].startswith("3 faults in ")
    assert "are checked once the settings are correct" in lines[-1]
    assert len(lines) <= 10


def test_all_lists_every_setting_with_its_meaning(printed: Callable[..., list[str]]) -> None:
    lines = printed("--all")
    docs = field_docs(Settings)
    shown = {name: " ".join(docs[name].split()) for name in Settings.model_fields if name not in MOVED}
    assert len(lines) > len(shown)
    for name, meaning in shown.items():
        assert any(name.upper() in line and meaning in line for line in lines), name
