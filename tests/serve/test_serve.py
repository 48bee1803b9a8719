"""From a delivery to a comment, with a real server process, real HTTP and a real repository."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.process import triage
from tests.serve.app import App, running, wait_for
from tests.serve.conftest import BODY, TITLE, on_both_databases
from tests.servers.deliveries import comment_event, issue_event
from tests.servers.github_server import GitHubServer
from tests.servers.github_world import Repo
from tests.support.repositories import git


def test_an_opened_issue_gets_one_report(github: GitHubServer, repo: Repo, tmp_path: Path) -> None:
    with running(github, tmp_path / "data", fresh=True) as app:
        number = app.open_issue(repo, TITLE, BODY)
        wait_for(lambda: len(github.world.reports(repo, number)) == 1, 10.0, lambda: app.log[-5:])
        (report,) = github.world.reports(repo, number)
        assert f"/blob/{repo.head}/feedbox/dates.py#L" in report
        app.settled()
    left = {content for kind, where, content in github.world.reactions if (kind, where) == ("issue", number)}
    assert left == {"eyes", "rocket"}
    assert len(github.world.ours(repo, number)) == 1


@on_both_databases
def test_duplicate_deliveries_in_any_order_lead_to_one_report(app: App, github: GitHubServer, repo: Repo) -> None:
    world = github.world
    number = world.open_issue(repo, TITLE, BODY)["number"]
    opened = issue_event(world, repo, number, "opened")
    edited = issue_event(world, repo, number, "edited", changes={"body": {"from": "x"}})
    comment = world.comment(repo, number, "It happens here too.", "otto")
    payload = comment_event(world, repo, number, comment)
    for guid, event, body in [("3", "issue_comment", payload), ("2", "issues", edited), ("1", "issues", opened)] * 2:
        assert app.deliver(event, body, guid) == 202
    wait_for(lambda: len(world.reports(repo, number)) == 1, 10.0, lambda: app.log[-5:])
    app.settled()
    assert len(world.ours(repo, number)) == 1


@on_both_databases
def test_a_second_server_on_the_same_data_names_the_first(app: App) -> None:
    assert app.process is not None
    second = App(app.github, app.data, app.settings)
    with pytest.raises(AssertionError, match=rf"another server \(process {app.process.pid}\) works in"):
        second.start()
    second.kill()


@on_both_databases
def test_jobs_in_progress_continue_after_a_kill(app: App, github: GitHubServer, repo: Repo) -> None:
    number = app.open_issue(repo, TITLE, BODY)
    app.kill()
    app.start()
    wait_for(lambda: len(github.world.reports(repo, number)) == 1, 20.0, lambda: app.log[-5:])
    app.settled()
    assert len(github.world.ours(repo, number)) == 1


@on_both_databases
def test_stopping_under_load_loses_nothing(app: App, github: GitHubServer, repo: Repo) -> None:
    numbers = [app.open_issue(repo, f"{TITLE} {n}", BODY) for n in range(8)]
    assert app.stop() == 0
    app.start()
    wait_for(lambda: all(len(github.world.reports(repo, n)) == 1 for n in numbers), 60.0, lambda: app.log[-5:])


def test_all_missing_settings_are_named_at_once(tmp_path: Path) -> None:
    done = triage(tmp_path, "serve", GITHUB_API_URL="nonsense")
    assert done.returncode == 2
    for name in ("GITHUB_APP_ID", "GITHUB_PRIVATE_KEY", "GITHUB_WEBHOOK_SECRET", "GITHUB_API_URL"):
        assert name in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_an_issue_in_an_empty_repository_gets_an_answer_too(app: App, github: GitHubServer, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    git(empty, "init", "--quiet", "--bare")
    repo = github.world.repository("octo/empty", git=empty)
    number = app.open_issue(repo, TITLE, BODY)
    wait_for(lambda: len(github.world.reports(repo, number)) == 1, 10.0, lambda: app.log[-5:])
    (comment,) = github.world.reports(repo, number)
    assert "**The code could not be read, so the report names no place.**" in comment
    assert "The code could not be read: the repository has no commit yet." in comment
    app.settled()
    assert app.ask(f"SELECT run_no, status FROM runs WHERE issue_key = '{app.key(repo, number)}'") == [(1, "finished")]
