"""Blind triage of past fixes of a real repository."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from bot.cli.backtest.run import BacktestResult, PastCase, backtest
from bot.cli.backtest.table import as_text
from bot.cli.group import cli
from bot.errors import UserError
from bot.jobs import Triage
from bot.ports import CommandEffects, Comment, IssueRef, PersonJudgement
from bot.runs.fixes import corrected
from bot.settings.environment import Settings
from bot.store.databases.sqlite import SqliteStore
from bot.store.jobs.deliveries import Arrival
from bot.store.runs.issue_runs import Ending, Origin, Settlement
from bot.store.runs.outcomes import Correction
from nodes.search.engine import Engine
from nodes.search.git import Repository
from tests.backtest.story import ISSUES, build, write_issues
from tests.cli.process import command, environment, triage
from tests.servers.github_server import Fault, GitHubServer, serve_github
from tests.servers.model_server import error, serve
from tests.support.patience import wait_for
from tests.support.preloaded import Forked
from tests.support.repositories import git


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    path = tmp_path_factory.mktemp("story") / "feed"
    return path, build(path)


def run(path: Path, data: Path, **options: Any) -> tuple[list[PastCase], BacktestResult]:
    """Run a backtest in this process; return the cases of its last judge, and everything."""
    engine = Engine(path, data / "repos")
    given = {name: options.pop(name) for name in set(Settings.model_fields) & set(options)}
    settings = Settings(**{"triage_data_dir": data, "triage_brain": "rules", **given})
    found = asyncio.run(backtest(engine, engine.commit("main"), settings, lambda *_: None, **options))
    return found.judges[-1].cases, found


def test_every_issue_is_read_at_the_commit_before_its_fix(story: tuple[Path, dict[str, str]], tmp_path: Path) -> None:
    path, names = story
    cases, found = run(path, tmp_path, issues=write_issues(tmp_path / "i.jsonl"))
    assert {case.number: (case.fix, case.gold) for case in cases} == {
        1: (names["one"], ("feed/dates.py",)),
        2: (names["two"], ("feed/store.py",)),
        3: (names["three"], ("feed/fetch.py",)),
    }
    parents = {case.number: case.base for case in cases}
    assert parents == {1: names["start"], 2: names["one"], 3: names["two"]}
    assert all(case.ranked[0] == case.gold[0] for case in cases)
    assert {case.number: case.place_rank for case in cases} == {1: 2, 2: 1, 3: 1}
    assert sum(found.left_out.values()) == 1  # the fix of the README


async def correct(data: Path, sha: str, number: int, text: tuple[str, str], why: str) -> None:
    """Store a report that claims feed/dates.py at a commit, and a person's correction of it."""
    store, ref = SqliteStore(data / "store.db"), IssueRef("github.com", 7, 9, "octo", "feed", number)
    mine = store.for_issue(ref)
    await store.installations.add([ref.repository])
    await store.inbox.accept(Arrival(ref.key, "issues", b"", (Triage(ref=ref, why="opened"),)))
    job, run = await store.jobs.claim("run", "me"), await mine.runs.begin(())
    assert job is not None
    origin = Origin(text[1], "rita", "opened")
    await mine.runs.pin(run.number, sha=sha, brain="rules", config_hash="", body_hash="", title=text[0], origin=origin)
    ending = Ending("bug", claimed=True, confidence=0.8, place="feed/dates.py")
    await mine.runs.settle(run.number, Settlement("finished", result="{}", ending=ending), job)
    said = Comment(
        id=number, author_id=1, author="lee", author_is_bot=False, body="", url="", created_at="", updated_at=""
    )
    await mine.control.apply(said, 0, "wrong", CommandEffects(judgement=PersonJudgement(right=False, why=why)))
    await store.aclose()


def test_corrections_by_people_are_cases_at_the_commit_of_the_report(
    story: tuple[Path, dict[str, str]], tmp_path: Path
) -> None:
    path, names = story
    for number, sha, why in (
        (1, names["three"], "it is feed/store.py"),  # its fix is known and decides
        (3, names["start"], "no, look again"),
        (4, names["three"], "`feed/dates.py` is fine, store.py:1 loses it, as tests/test_dates.py shows"),
        (5, names["start"], "it is nowhere/else.py"),
        (6, "d" * 40, "it is feed/store.py"),
    ):
        asyncio.run(correct(tmp_path, sha, number, ISSUES.get(number, ("Odd", "It is odd.")), why))
    cases, found = run(path, tmp_path, corrections="octo/feed")
    (case,) = [one for one in cases if one.by_people]
    assert (case.number, case.base, case.gold) == (4, names["three"], ("feed/store.py",))
    assert case.title == ISSUES[4][0]
    assert sorted(one.number for one in cases) == [1, 2, 3, 4]
    assert next(one for one in cases if one.number == 1).title == ISSUES[1][0]  # and not the fix's message
    assert found.left_out["a correction names no other source file of the report's commit"] == 1
    assert found.left_out["the commit of a corrected report is not in this clone"] == 1
    assert "3 past fixes, each triaged at the commit before it; 1 correction by people" in as_text(found, 0.8)
    with pytest.raises(UserError, match="no data is stored for octo/other"):
        run(path, tmp_path, corrections="octo/other")


def test_a_small_folder_that_a_correction_names_stands_for_its_files(story: tuple[Path, dict[str, str]]) -> None:
    path, names = story
    folder, outside, root = (
        Correction(number, names["three"], "feed/dates.py", why, 1.0)
        for number, why in ((7, "`feed`"), (8, "`../feed`"), (9, "`fee`"))
    )
    left_out = Counter[str]()
    (case,) = corrected(Repository.open(path), (folder, outside, root), set(), left_out)
    assert case.fix.number == 7
    assert "feed/store.py" in case.gold
    assert "feed/dates.py" not in case.gold
    assert left_out.total() == 2


def test_nothing_made_after_the_parent_is_read(tmp_path: Path) -> None:
    """The same history, cut at the parent, gives the same result: later commits have no influence."""
    names = build(tmp_path / "feed")
    issues = write_issues(tmp_path / "i.jsonl", {2: ISSUES[2]})
    (case,), _ = run(tmp_path / "feed", tmp_path / "a", issues=issues)
    git(tmp_path / "feed", "checkout", "--quiet", "--orphan", "later")
    git(tmp_path / "feed", "commit", "--quiet", "--allow-empty", "-m", "save_article save_article feed/fetch.py")
    git(tmp_path / "feed", "tag", "v9.0")
    git(tmp_path / "feed", "reset", "--quiet", "--hard", names["two"])
    git(tmp_path / "feed", "branch", "--force", "main", names["two"])
    (again,), _ = run(tmp_path / "feed", tmp_path / "b", issues=issues)
    assert (again.ranked, again.confidence) == (case.ranked, case.confidence)


def test_an_issue_that_is_younger_than_the_fix_is_left_out(story: tuple[Path, dict[str, str]], tmp_path: Path) -> None:
    issues = write_issues(tmp_path / "i.jsonl", created_at="2024-06-01T00:00:00Z")
    cases, found = run(story[0], tmp_path, issues=issues)
    assert cases == []
    assert "3 where the issue was opened after the fix" in as_text(found, 0.8)


def test_without_texts_the_commit_messages_are_used_and_that_is_reported(
    story: tuple[Path, dict[str, str]], tmp_path: Path
) -> None:
    cases, found = run(story[0], tmp_path)
    assert [case.title for case in cases] == ["Try the feed again", "Make the folder", "Read the zone"]
    assert "from commit messages" in as_text(found, 0.8)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        pytest.param("{", "line 2", id="no-json"),
        pytest.param('{"number": "x", "title": "t"}', "number", id="no-number"),
        pytest.param('{"number": 1}', "title", id="no-title"),
    ],
)
def test_a_fault_of_the_file_is_reported_with_its_line(
    story: tuple[Path, dict[str, str]], tmp_path: Path, line: str, says: str
) -> None:
    file = tmp_path / "i.jsonl"
    file.write_text('{"number": 7, "title": "t", "body": null}\n' + line + "\n")
    with pytest.raises(UserError, match="line 2") as caught:
        run(story[0], tmp_path, issues=file)
    assert says in str(caught.value)


def test_stored_results_are_not_computed_again(story: tuple[Path, dict[str, str]], tmp_path: Path) -> None:
    issues = write_issues(tmp_path / "i.jsonl")
    first, _ = run(story[0], tmp_path, issues=issues, limit=2)
    stored = sorted((tmp_path / "backtest").rglob("*.json"))
    second, _ = run(story[0], tmp_path, issues=issues)
    assert second[:2] == first  # including durations
    assert len(stored) == 2
    stored[0].write_bytes(stored[0].read_bytes()[:40])  # as a kill may leave it
    third, _ = run(story[0], tmp_path, issues=issues)
    assert [case.ranked for case in third] == [case.ranked for case in second]
    changed = write_issues(tmp_path / "i.jsonl", {**ISSUES, 3: ("Another title", ISSUES[3][1])})
    fourth, _ = run(story[0], tmp_path, issues=changed)
    assert [case.title for case in fourth] == ["Another title", ISSUES[2][0], ISSUES[1][0]]


def test_it_continues_after_a_kill(story: tuple[Path, dict[str, str]], tmp_path: Path) -> None:
    write_issues(tmp_path / "i.jsonl")
    arguments = ("backtest", "--repo", str(story[0]), "--issues", "i.jsonl", "--json")
    settings = {"TRIAGE_DATA_DIR": str(tmp_path), "TRIAGE_BRAIN": "rules"}
    process = Forked(
        command(*arguments),
        cwd=tmp_path,
        env=environment(**settings),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    wait_for(lambda: any(one.read_bytes() for one in (tmp_path / "backtest").rglob("*.json")), 50.0, pause=0.005)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    kept = {one: one.stat().st_mtime_ns for one in (tmp_path / "backtest").rglob("*.json")}
    done = triage(tmp_path, *arguments, **settings)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert (document["issues"], document["hits"]["1"], document["place_hits"]["3"]) == (3, 1.0, 1.0)
    assert document["cost"]["calls"] == 0
    assert any(one.stat().st_mtime_ns == at for one, at in kept.items())
    assert "3 of 3 issues" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        pytest.param(("--github", "nobody"), "owner/name", id="no-name"),
        pytest.param(("--github", "a/b", "--issues", "x"), "give one", id="two-places"),
    ],
)
def test_bad_options_are_reported_in_one_line(
    story: tuple[Path, dict[str, str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    says: str,
) -> None:
    monkeypatch.setenv("TRIAGE_DATA_DIR", str(tmp_path))
    done = CliRunner().invoke(cli, ["backtest", "--repo", str(story[0]), *arguments])
    assert (done.exit_code, len(done.stderr.splitlines()), says in done.stderr) == (2, 1, True), done.stderr


@pytest.fixture
def github() -> Iterator[GitHubServer]:
    with serve_github() as server:
        repo = server.world.repository("octo/feed", public=True)
        for title, body in ISSUES.values():
            server.world.open_issue(repo, title, body)
        for issue in repo.issues.values():
            issue["created_at"] = "2023-01-01T00:00:00Z"
        repo.issues[3]["pull_request"] = {"url": "x"}
        yield server


def test_issues_are_read_from_github_without_pull_requests(
    story: tuple[Path, dict[str, str]], github: GitHubServer, tmp_path: Path
) -> None:
    options = {"github": "octo/feed", "github_api_url": github.url}
    cases, found = run(story[0], tmp_path, **options)
    assert [case.number for case in cases] == [2, 1]
    assert "from octo/feed on GitHub" in as_text(found, 0.8)
    count = len(github.asked("GET", "/issues/"))
    again, _ = run(story[0], tmp_path, **options)
    assert (again, len(github.asked("GET", "/issues/"))) == (cases, count)


def test_a_private_repository_is_read_with_a_persons_token(
    story: tuple[Path, dict[str, str]], github: GitHubServer, tmp_path: Path
) -> None:
    (repo,) = github.world.repos.values()
    repo.public = False
    github.world.tokens["of-rita"] = {"permissions": {"issues": "read", "metadata": "read"}, "repositories": [repo.id]}
    options = {"github": "octo/feed", "github_api_url": github.url}
    with pytest.raises(UserError, match="GitHub does not find the repository"):
        run(story[0], tmp_path, **options)
    cases, _ = run(story[0], tmp_path, **options, github_token="of-rita")
    assert len(cases) == 2


def test_a_limit_reached_halfway_loses_nothing_that_was_read(
    story: tuple[Path, dict[str, str]], github: GitHubServer, tmp_path: Path
) -> None:
    options = {"github": "octo/feed", "github_api_url": github.url}
    github.fail("GET", "/issues/1", Fault(status=403, headers={"Retry-After": "120"}, message="rate limit"))
    with pytest.raises(UserError, match="GITHUB_TOKEN, or repeat the same command in 2 minutes"):
        run(story[0], tmp_path, **options)
    before = len(github.asked("GET", "/issues/"))
    cases, _ = run(story[0], tmp_path, **options)
    assert len(cases) == 2
    assert len(github.asked("GET", "/issues/")) == before + 1


def test_an_unreachable_github_is_reported_in_one_line(story: tuple[Path, dict[str, str]], tmp_path: Path) -> None:
    with pytest.raises(UserError, match="--issues FILE"):
        run(story[0], tmp_path, github="octo/feed", github_api_url="http://127.0.0.1:9")


def test_the_cost_and_the_failures_of_a_model_are_counted(story: tuple[Path, dict[str, str]], tmp_path: Path) -> None:
    with serve() as model:
        model.script = [error(503)]
        given = {"triage_brain": "llm", "openai_base_url": model.url, "openai_api_key": "k"}
        cases, found = run(story[0], tmp_path, issues=write_issues(tmp_path / "i.jsonl", {2: ISSUES[2]}), **given)
    assert [case.fell_back for case in cases] == [True]
    text = as_text(found, 0.8)
    assert "judged by gpt-4o" in text
    assert "In 1 issues rules judged part of the run" in text
