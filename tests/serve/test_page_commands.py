"""Buttons of a run's page, with the whole server and a login on the simulated GitHub."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.serve.app import App, running, wait_for
from tests.serve.conftest import BODY, FILES, TITLE
from tests.servers.github_pages import CLIENT_ID, CLIENT_SECRET
from tests.servers.github_server import GitHubServer
from tests.servers.github_world import Repo
from tests.support.patience import patience
from tests.support.repositories import make_repository

FORM = {"Sec-Fetch-Site": "same-origin"}


@pytest.fixture
def app(github: GitHubServer, tmp_path: Path) -> Iterator[App]:
    login = {"GITHUB_CLIENT_ID": CLIENT_ID, "GITHUB_CLIENT_SECRET": CLIENT_SECRET}
    with running(github, tmp_path / "data", **login) as app:
        yield app


@pytest.fixture
def own(github: GitHubServer, tmp_path: Path) -> Repo:
    """Return a repository of the installation that the simulated GitHub lists for people."""
    sha = make_repository(tmp_path / "origin", FILES)
    return github.world.repository(f"octo/judged{len(github.world.repos)}", git=tmp_path / "origin", head=sha)


@pytest.fixture
def mona(app: App, github: GitHubServer, own: Repo) -> Iterator[httpx.Client]:
    """Yield the browser of a person with the triage permission, who is logged in."""
    own.permissions["mona"] = "triage"
    github.world.signed_in, github.world.may_read["mona"] = "mona", {own.id}
    with httpx.Client(base_url=app.url, headers={"Accept": "text/html"}, timeout=patience(60)) as http:
        begun = http.get("/login/github").headers["location"]
        back = httpx.get(begun, verify=False).headers["location"]
        assert http.get(back).status_code == 303
        yield http


def reported(app: App, github: GitHubServer, repo: Repo) -> int:
    number = app.open_issue(repo, TITLE, BODY)
    wait_for(lambda: len(github.world.reports(repo, number)) == 1, 60.0, lambda: app.log[-5:])
    app.settled(60.0)
    return number


def press(http: httpx.Client, repo: Repo, number: int, name: str, why: str = "") -> str:
    """Press a button and return the page that follows."""
    path = f"/runs/{repo.full_name}/{number}/1/command"
    answer = http.post(path, data={"name": name, "why": why}, headers=FORM, follow_redirects=True)
    assert answer.status_code == 200, answer.text
    return str(answer.url)


def test_a_correction_on_the_page_is_that_of_a_comment(
    app: App, github: GitHubServer, own: Repo, mona: httpx.Client
) -> None:
    number = reported(app, github, own)
    page = mona.get(f"/runs/{own.full_name}/{number}/1").text
    assert "gives the minutes of +0700" in page  # the issue's text
    assert "Began because the issue was opened." in page
    there = press(mona, own, number, "wrong", "the fault is in feedbox/store.py, save")
    wait_for(lambda: mona.get(f"/runs/{own.full_name}/{number}/2").status_code == 200, 60.0, lambda: app.log[-5:])
    app.settled(60.0)
    assert "Your request was accepted." in mona.get(there).text
    first, second = (mona.get(f"/runs/{own.full_name}/{number}/{run}").text for run in (1, 2))
    assert "mona said that this is wrong: the fault is in feedbox/store.py, save" in first
    assert "Began because mona asked for it on this page." in second
    assert "the fault is in feedbox/store.py, save" in second.partition("Instructions from people")[2]
    assert "Different from run" in second
    assert len(github.world.ours(own, number)) == 1  # the report, edited; no reply


def test_right_is_stored_and_starts_nothing(app: App, github: GitHubServer, own: Repo, mona: httpx.Client) -> None:
    number = reported(app, github, own)
    there = press(mona, own, number, "right")
    wait_for(lambda: "Your request was accepted." in mona.get(there).text, 60.0, lambda: app.log[-5:])
    app.settled(60.0)
    assert "mona said that this is right." in mona.get(there).text
    assert mona.get(f"/runs/{own.full_name}/{number}/2").status_code == 404


def test_a_permission_that_was_revoked_meanwhile_is_respected(
    app: App, github: GitHubServer, own: Repo, mona: httpx.Client
) -> None:
    number = reported(app, github, own)
    own.permissions["mona"] = "pull"  # the login still has the old list for a minute
    there = press(mona, own, number, "triage")
    wait_for(lambda: "You may not give this command here." in mona.get(there).text, 60.0, lambda: app.log[-5:])
    app.settled(60.0)
    assert mona.get(f"/runs/{own.full_name}/{number}/2").status_code == 404
