"""The GitHub Action with a runner's event, a simulated GitHub and a runner's files."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from bot.cli.group import cli
from bot.cli.server.action import MAX_NOTICES, Event, act, notices
from bot.report.comment.state import read_state
from bot.report.comment.thread import without_time
from bot.settings.environment import Settings
from nodes.report import Suspect, TriageReport
from nodes.search.facts import Fact
from tests.cli.process import ROOT, triage
from tests.serve.conftest import BODY, FILES, TITLE
from tests.servers.deliveries import comment_event, issue_event
from tests.servers.endpoints import answer
from tests.servers.github_server import GitHubServer, serve_github
from tests.servers.github_world import GRANTED, Repo, person
from tests.servers.model_server import says, serve
from tests.support.code_reader import costing
from tests.support.repositories import make_repository

TOKEN = "ghs_" + "workflow" * 4
ACTIONS = person("github-actions[bot]", "Bot")


@pytest.fixture(scope="module")
def github() -> Iterator[GitHubServer]:
    with serve_github() as server:
        yield server


@pytest.fixture(scope="module")
def repo(github: GitHubServer, tmp_path_factory: pytest.TempPathFactory) -> Repo:
    origin = tmp_path_factory.mktemp("origin")
    repo = github.world.repository("octo/feedbox", git=origin, head=make_repository(origin, FILES), labels={"bug"})
    github.world.tokens[TOKEN] = {"repositories": [repo.id], "permissions": GRANTED, "author": ACTIONS}
    return repo


def acted(github: GitHubServer, folder: Path, event: str, body: bytes, **more: str) -> subprocess.CompletedProcess[str]:
    folder.mkdir(exist_ok=True)
    (folder / "event.json").write_bytes(body)
    (folder / ".env").write_text("OPENAI_BASE_URL=http://collector.example/v1\n")
    given = {
        "GITHUB_EVENT_NAME": event,
        "GITHUB_EVENT_PATH": str(folder / "event.json"),
        "GITHUB_WORKSPACE": str(folder),
        "GITHUB_RUN_ID": "1",
        "GITHUB_TOKEN": TOKEN,
        "GITHUB_API_URL": github.url,
        "GITHUB_SERVER_URL": github.url,
        "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
        "GITHUB_OUTPUT": str(folder / "output"),
        "TRIAGE_DATA_DIR": ".tracehound",
        "TRIAGE_BRAIN": "auto",
        "OPENAI_API_KEY": "",
    }
    return triage(folder, "action", **(given | more))


def reports(github: GitHubServer, repo: Repo, number: int) -> list[str]:
    return [comment["body"] for comment in github.world.on(repo, number) if comment["user"] == ACTIONS]


def event(github: GitHubServer, repo: Repo, number: int, action: str) -> bytes:
    """Build a delivery as in a workflow, where no App is installed."""
    return re.sub(rb', "installation": \{[^}]*\}', b"", issue_event(github.world, repo, number, action))


def test_an_opened_issue_gets_one_report_however_often_the_workflow_runs(
    github: GitHubServer, repo: Repo, tmp_path: Path
) -> None:
    number = github.world.open_issue(repo, TITLE, BODY)["number"]
    opened = event(github, repo, number, "opened")
    done = acted(github, tmp_path / "first", "issues", opened)
    assert done.returncode == 0, done.stderr
    (report,) = reports(github, repo, number)
    assert report.startswith("<!-- triage:report")
    assert f"/blob/{repo.head}/feedbox/dates.py#L" in report
    assert "dates.py" in (tmp_path / "first" / "summary.md").read_text()
    notices = [line for line in done.stdout.splitlines() if line.startswith("::notice ")]
    assert notices
    assert all(line.startswith("::notice file=feedbox/dates.py,line=") for line in notices)
    assert (
        tmp_path / "first" / "output"
    ).read_text() == f"issue-url=https://{github.url[7:]}/octo/feedbox/issues/{number}\n"
    assert "job_done" in done.stderr
    assert TOKEN not in done.stderr
    again = acted(github, tmp_path / "without-what-was-known", "issues", opened, GITHUB_RUN_ATTEMPT="2")
    assert again.returncode == 0, again.stderr
    assert reports(github, repo, number) == [report]


async def test_it_posts_in_the_language_of_its_input_and_stores_what_it_posted(
    github: GitHubServer, repo: Repo, tmp_path: Path
) -> None:
    number = github.world.open_issue(repo, TITLE, BODY)["number"]
    (tmp_path / "event.json").write_bytes(event(github, repo, number, "opened"))
    settings = Settings(
        github_api_url=github.url,
        github_server_url=github.url,
        triage_brain="rules",
        triage_data_dir=tmp_path / "data",
        triage_language="de",
    )
    done = await act(Event("issues", tmp_path / "event.json", "action-1"), settings, TOKEN)
    (report,) = reports(github, repo, number)
    assert "Automatische erste Durchsicht" in report
    assert done.comment.strip() == without_time(report).strip()


@pytest.mark.parametrize(
    ("limits", "why"),
    [
        pytest.param("calls=2 tokens=90000 cost=90", "2 model calls", id="calls"),
        pytest.param("calls=9 tokens=9000 cost=90", "9,000 model tokens", id="tokens"),
        pytest.param("calls=9 tokens=90000 cost=12.00", "12.00", id="cost"),
    ],
)
async def test_a_run_with_a_model_stops_at_each_of_its_limits(
    github: GitHubServer, repo: Repo, tmp_path: Path, limits: str, why: str
) -> None:
    number = github.world.open_issue(repo, TITLE, BODY)["number"]
    (tmp_path / "event.json").write_bytes(event(github, repo, number, "opened"))
    with serve() as model:
        model.script = lambda request: costing(says(answer(request)), 2_000, 500)
        settings = Settings(
            github_api_url=github.url,
            github_server_url=github.url,
            openai_api_key="k",
            openai_base_url=model.url,
            triage_data_dir=tmp_path / "data",
            triage_limits_run=limits,
            triage_prices="gpt-4o=1000/2000",
            triage_model_calls_per_minute=100_000,
        )
        done = await act(Event("issues", tmp_path / "event.json", "action-1"), settings, TOKEN)
    assert len(model.requests) == 2
    assert done.comment
    (report,) = reports(github, repo, number)
    assert re.search(rf"the limit of .{{0,3}}{why}.* for this run is reached", report)


def test_a_workflow_notice_cannot_contain_a_second_command() -> None:
    fact = Fact("read_here", "`100%`\n::error::x is read.", path="a,b:c%/d.py", line=3, text="x", symbol="f")
    place = Suspect(path="a,b:c%/d.py", start_line=1, end_line=9, facts=(0,))
    report = TriageReport(statement="claim", facts=(fact,), suspects=(place,))
    (line,) = notices(report)
    assert line == "::notice file=a%2Cb%3Ac%25/d.py,line=3,title=Tracehound::`100%25` ::error::x is read."
    many = report.model_copy(update={"facts": (fact,) * 9, "suspects": (place.model_copy(update={"facts": range(9)}),)})
    assert len(list(notices(many))) == MAX_NOTICES
    assert not list(notices(report.model_copy(update={"kind": "security"})))
    assert not list(notices(report.model_copy(update={"statement": "ranked"})))


def test_a_command_in_a_comment_is_obeyed(github: GitHubServer, repo: Repo, tmp_path: Path) -> None:
    number = github.world.open_issue(repo, TITLE, BODY)["number"]
    repo.permissions["otto"] = "triage"
    comment = github.world.comment(repo, number, "/triage", "otto")
    done = acted(github, tmp_path / "w", "issue_comment", comment_event(github.world, repo, number, comment))
    assert done.returncode == 0, done.stderr
    assert len(reports(github, repo, number)) == 1


def test_an_answer_continues_without_the_cache(github: GitHubServer, repo: Repo, tmp_path: Path) -> None:
    number = github.world.open_issue(repo, "It fails", "It does not work.")["number"]
    asked = acted(github, tmp_path / "first", "issues", event(github, repo, number, "opened"))
    assert asked.returncode == 0, asked.stderr
    (waiting,) = reports(github, repo, number)
    assert "- [ ] **Q1**" in waiting
    state = read_state(waiting)
    assert state is not None
    assert (state.status, [question.state for question in state.questions]) == ("waiting", ["open"])
    answer = github.world.comment(repo, number, BODY, "rita")
    done = acted(github, tmp_path / "second", "issue_comment", comment_event(github.world, repo, number, answer))
    assert done.returncode == 0, done.stderr
    report, *replies = reports(github, repo, number)
    assert "dates.py" in report
    assert "- [ ]" not in report
    assert len(replies) <= 1
    state = read_state(report)
    assert state is not None
    assert (state.status, [question.state for question in state.questions]) == ("finished", ["answered"])
    assert [place.path for place in state.places] == ["feedbox/dates.py"]


def test_a_dry_run_prints_the_jobs_and_asks_github_nothing(
    github: GitHubServer, repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    github.world.open_issue(repo, TITLE, BODY)
    (tmp_path / "event.json").write_bytes(event(github, repo, 1, "opened"))
    for name, value in (("NAME", "issues"), ("PATH", str(tmp_path / "event.json"))):
        monkeypatch.setenv(f"GITHUB_EVENT_{name}", value)
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    monkeypatch.setattr("bot.observability.logs.log_to_stderr", lambda **_given: None)
    before = len(github.asked("GET", "/"))
    done = CliRunner().invoke(cli, ["action", "--dry-run"])
    assert [json.loads(line)["kind"] for line in done.stdout.splitlines()] == ["triage"]
    assert len(github.asked("GET", "/")) == before


@pytest.mark.parametrize(
    ("given", "says"),
    [
        pytest.param({"GITHUB_EVENT_NAME": "push"}, "issues, issue_comment or pull_request", id="another-event"),
        pytest.param({"GITHUB_EVENT_NAME": "pull_request"}, "a pull request's event", id="no-pull-request"),
        pytest.param({"GITHUB_EVENT_PATH": "nowhere.json"}, "GITHUB_EVENT_PATH", id="no-event"),
        pytest.param({"GITHUB_TOKEN": ""}, "GITHUB_TOKEN", id="no-token"),
    ],
)
def test_a_missing_input_is_reported_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: dict[str, str], says: str
) -> None:
    (tmp_path / "event.json").write_text("{}")
    sound = {"GITHUB_EVENT_NAME": "issues", "GITHUB_EVENT_PATH": str(tmp_path / "event.json"), "GITHUB_TOKEN": TOKEN}
    for name, value in (sound | given).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(
        "bot.observability.logs.log_to_stderr", lambda **_given: None
    )  # it would remain set for later tests
    done = CliRunner().invoke(cli, ["action"])
    assert done.exit_code == 2
    assert says in done.stderr.splitlines()[-1]


SOUND = "mode: label\nlabels:\n  map: {needs-answer: bug}\n"
UNKNOWN_LABEL = "labels:\n  map: {needs-answer: 'needs, info'}\n"
FAULTY = "mode: loud\nlabls: {}\nlimits: {questions: 9}\n"


@pytest.mark.parametrize(
    ("file", "code", "shown", "summary"),
    [
        pytest.param(SOUND, 0, [], "is valid; mode label", id="sound"),
        pytest.param(None, 0, [], "the defaults apply", id="none"),
        pytest.param(UNKNOWN_LABEL, 0, ["::warning 1 'needs, info' does not exist"], "is valid", id="unknown-label"),
        pytest.param(FAULTY, 1, ["::error 1 mode", "::error 2 labls", "::error 3 questions"], "3 faults", id="faulty"),
        pytest.param(b"\xff\xfe\x00", 1, ["::error 1 cannot be read"], "1 fault", id="no-text"),
    ],
)
def test_a_pull_request_s_configuration_is_checked_at_its_lines(
    github: GitHubServer, repo: Repo, tmp_path: Path, file: str | None, code: int, shown: list[str], summary: str
) -> None:
    commit = "5" * 40
    repo.proposed[commit] = {} if file is None else {".github/triage.yml": file}
    event = {"repository": {"full_name": repo.full_name}, "pull_request": {"head": {"sha": commit}}}
    before = len(github.calls)
    done = acted(github, tmp_path / "w", "pull_request", json.dumps(event).encode())
    assert done.returncode == code, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == len(shown)
    for line, wanted in zip(lines, shown, strict=True):
        level, number, text = wanted.split(" ", 2)
        assert line.startswith(f"{level} file=.github/triage.yml,line={number},title=Tracehound::")
        assert text in line
    assert summary in (tmp_path / "w" / "summary.md").read_text()
    assert {call.method for call in github.calls[before:]} == {"GET"}


@pytest.fixture
def described() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())
    return found


def test_every_input_is_explained_and_reaches_a_setting(described: dict[str, Any]) -> None:
    runs, inputs = described["runs"], described["inputs"]
    assert all(given.keys() == {"description", "default"} for given in inputs.values())
    passed = {value.removeprefix("${{ inputs.").removesuffix(" }}"): name for name, value in runs["env"].items()}
    assert passed.keys() == inputs.keys()
    assert {name.lower() for name in passed.values()} <= Settings.model_fields.keys()
    assert (runs["using"], runs["args"]) == ("docker", ["action"])


def test_the_image_exists_and_copies_only_allowed_files(described: dict[str, Any]) -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert described["runs"]["image"].endswith(f"/tracehound-action:v{version}")
    # The Action's image is the target before the server's, which alone has a user without rights.
    image = (ROOT / "Dockerfile").read_text().partition(" AS server")[0]
    allowed = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    copied = {word for line in re.findall(r"^COPY (?!--from)(.*) \S+$", image, re.M) for word in line.split()}
    assert copied <= allowed
    assert "USER" not in image


def test_the_documented_workflow_requests_only_needed_permissions() -> None:
    page = (ROOT / "docs" / "action.md").read_text()
    workflow, bare, check = (yaml.safe_load(text) for text in re.findall(r"```yaml\n(.*?)```", page, re.S))
    assert check["permissions"] == {"contents": "read", "issues": "read"}
    assert set(check[True]) == {"pull_request"}
    assert workflow["permissions"] == bare["permissions"] == {"contents": "read", "issues": "write"}
    assert set(workflow[True]) == set(bare[True]) == {"issues", "issue_comment"}
    (imageless,) = bare["jobs"]["triage"]["steps"]
    assert imageless["run"].endswith(" triage action")
    assert {name.lower() for name in imageless["env"]} <= Settings.model_fields.keys()
    (job,) = workflow["jobs"].values()
    (step,) = [step for step in job["steps"] if "tracehound" in step["uses"]]
    inputs = yaml.safe_load((ROOT / "action.yml").read_text())["inputs"]
    assert set(step.get("with", {})) <= set(inputs)
