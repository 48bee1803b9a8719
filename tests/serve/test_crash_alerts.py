"""A crash that three people report within a day leads to one comment."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.serve.app import App, running, wait_for
from tests.serve.test_duplicates import TITLE, crash
from tests.servers.deliveries import issue_event
from tests.servers.github_server import GitHubServer
from tests.servers.github_world import Repo


@pytest.fixture
def app(github: GitHubServer, tmp_path: Path) -> Iterator[App]:
    with running(github, tmp_path / "data") as app:
        yield app


@pytest.fixture
def own(github: GitHubServer, repo: Repo) -> Repo:
    """Return a separate repository with the same code."""
    number = 3_000 + len(github.world.repos)
    name = f"octo/crashes-{os.urandom(3).hex()}"
    return github.world.repository(name, installation=number, git=repo.git, head=repo.head)


def crashed(app: App, github: GitHubServer, repo: Repo, author: str, day: datetime | None = None) -> int:
    """Report the crash as a person, now or on a day; return the issue's number when its run is over."""
    number = github.world.open_issue(repo, f"{TITLE} for {author}", crash(), author=author)["number"]
    opened = (day or datetime.now(UTC)).strftime("%Y-%m-%dT%H:%M:%SZ")
    github.world.repos[repo.id].issues[number]["created_at"] = opened
    assert app.deliver("issues", issue_event(github.world, repo, number, "opened")) == 202
    wait_for(lambda: app.logged("triage", app.key(repo, number)), 60.0, lambda: app.log[-5:])
    app.settled(60.0)
    return number


def alerts(github: GitHubServer, repo: Repo, *numbers: int) -> list[str]:
    return [body for n in numbers for body in github.world.ours(repo, n) if body.startswith("<!-- triage:alert")]


def test_three_reporters_lead_to_one_alert(app: App, github: GitHubServer, own: Repo) -> None:
    numbers = [crashed(app, github, own, author) for author in ("ann", "ben", "ann")]
    assert alerts(github, own, *numbers) == []
    numbers.append(crashed(app, github, own, "cleo"))
    wait_for(lambda: len(alerts(github, own, *numbers)) == 1, 60.0, lambda: app.log[-5:])
    (alert,) = alerts(github, own, *numbers)
    assert alert in github.world.ours(own, numbers[0])
    assert "**3 people reported this crash within 24 hours.**" in alert
    assert f"Other reports: `#{numbers[1]}`, `#{numbers[2]}`, `#{numbers[3]}`." in alert
    numbers.append(crashed(app, github, own, "dora"))
    app.pass_time(3_600.0)
    app.settled(60.0)
    assert len(alerts(github, own, *numbers)) == 1


@pytest.mark.parametrize("how", ["off", "old", "label"])
def test_no_comment_is_posted(app: App, github: GitHubServer, own: Repo, how: str) -> None:
    if how == "off":
        own.files[".github/triage.yml"] = "crash_alerts: false\n"
    day = datetime(2020, 1, 1, tzinfo=UTC) if how == "old" else None
    numbers = [crashed(app, github, own, author, day) for author in ("ann", "ben")]
    if how == "label":
        own.files[".github/triage.yml"] = "mode: label\n"
    numbers.append(crashed(app, github, own, "cleo", day))
    app.pass_time(3_600.0)
    app.settled(60.0)
    assert alerts(github, own, *numbers) == []
