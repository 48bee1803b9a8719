"""Duplicate reports with the whole server: current state, and people's decisions take precedence."""

from __future__ import annotations

import os

import pytest

from tests.serve.app import App, wait_for
from tests.serve.conftest import on_both_databases
from tests.serve.test_commands import settings
from tests.servers.deliveries import issue_event, repository_event
from tests.servers.github_server import GitHubServer
from tests.servers.github_world import Repo

TITLE = "Reading a feed ends with a ValueError"
ELSEWHERE = "Upgrade broke my cron job"

__all__ = ["settings"]

pytestmark = on_both_databases


@pytest.fixture
def twins(github: GitHubServer, repo: Repo) -> Repo:
    """Return a separate repository with the same code, so that no other test's issues are compared."""
    return github.world.repository(f"octo/twins-{os.urandom(3).hex()}", git=repo.git, head=repo.head)


def crash(root: str = "/usr/lib/python3/site-packages", line: int = 8, message: str = "no zone in 'Mon'") -> str:
    return (
        "It used to work.\n\n```\nTraceback (most recent call last):\n"
        f'  File "{root}/feedbox/store.py", line {line + 3}, in save\n    parse_date(article)\n'
        f'  File "{root}/feedbox/dates.py", line {line}, in parse_date\n    raise ValueError(text)\n'
        f"ValueError: {message}\n```\n"
    )


AGAIN = crash("C:/Python312/Lib/site-packages", 19, "no zone in 'Tue'")


def report(app: App, github: GitHubServer, repo: Repo, number: int) -> str:
    wait_for(lambda: bool(github.world.reports(repo, number)), 25.0, lambda: app.log[-5:])
    app.settled()
    (only,) = github.world.reports(repo, number)
    return only


def opened(app: App, github: GitHubServer, repo: Repo, title: str, body: str) -> int:
    number = app.open_issue(repo, title, body)
    report(app, github, repo, number)
    return number


def test_a_second_report_of_a_crash_names_the_first_until_a_person_denies_it(
    app: App, github: GitHubServer, twins: Repo
) -> None:
    twins.permissions["mia"] = "push"
    first = opened(app, github, twins, TITLE, crash())
    second = opened(app, github, twins, ELSEWHERE, AGAIN)
    text = report(app, github, twins, second)
    assert f"**Probably the same as [`#{first}`]({github.url}/{twins.full_name}/issues/{first}) (open)**" in text
    assert "the same crash, ValueError in feedbox/dates" in text
    assert "Probably the same" not in report(app, github, twins, first)
    assert {issue["state"] for issue in twins.issues.values()} == {"open"}
    app.comment(twins, second, f"/triage not-duplicate #{first}", "mia")
    wait_for(lambda: "the same as" not in github.world.reports(twins, second)[0], 15.0, lambda: app.log[-5:])
    app.settled()
    app.comment(twins, second, "/triage", "mia")
    app.settled()
    assert f"#{first}" not in report(app, github, twins, second)
    third = opened(app, github, twins, "The same here", AGAIN)
    assert f"Probably the same as [`#{first}`]" in report(app, github, twins, third)


def test_closed_and_deleted_issues_are_never_duplicates(app: App, github: GitHubServer, twins: Repo) -> None:
    first = opened(app, github, twins, TITLE, crash())
    second = opened(app, github, twins, ELSEWHERE, AGAIN)
    twins.issues[first]["state"] = "closed"
    assert app.deliver("issues", issue_event(github.world, twins, first, "closed")) == 202
    del twins.issues[second]  # without a delivery
    third = 3
    twins.issues[second] = {}  # prevents the simulated GitHub from reusing its number
    github.world.open_issue(twins, "Once more", AGAIN)
    del twins.issues[second]
    assert app.deliver("issues", issue_event(github.world, twins, third, "opened")) == 202
    text = report(app, github, twins, third)
    assert "Probably the same" not in text
    assert f"`#{first}` (closed)" in text
    assert f"#{second}" not in text


def test_older_pages_are_learnt_by_jobs_after_the_first_report(app: App, github: GitHubServer, twins: Repo) -> None:
    old = [github.world.open_issue(twins, f"Old failure {n}", "It failed long ago.")["number"] for n in range(2)]
    key = app.key(twins, 0)
    github.world.most_a_page = 1
    try:
        opened(app, github, twins, TITLE, crash())
        for learnt in (1, 2):
            app.pass_time(6)
            wait_for(
                lambda done=learnt: (
                    sum(line.get("issue") == key and "learn_past" in line["message"] for line in list(app.log)) >= done
                ),
                15.0,
                lambda: app.log[-5:],
            )
    finally:
        github.world.most_a_page = 100
    app.settled()
    assert kept(app, twins) == {*old, 3}


def test_data_of_deleted_issues_and_removed_repositories_is_deleted(
    app: App, github: GitHubServer, twins: Repo
) -> None:
    number = opened(app, github, twins, TITLE, crash())
    other = github.world.open_issue(twins, ELSEWHERE, "It is about something else.")["number"]
    for about, action in [(other, "edited"), (number, "deleted")]:
        assert app.deliver("issues", issue_event(github.world, twins, about, action)) == 202
    app.pass_time(61)
    wait_for(lambda: app.logged("edited", app.key(twins, other)), 15.0, lambda: app.log[-5:])
    wait_for(lambda: kept(app, twins) == {other}, 15.0, lambda: kept(app, twins))  # the deletion is another job
    assert app.deliver("repository", repository_event(github.world, twins, "deleted")) == 202
    app.settled()
    assert kept(app, twins) == set()


def kept(app: App, repo: Repo) -> set[int]:
    """Return the issues with which new ones of a repository are compared."""
    found = app.ask(f"SELECT number FROM past_issues WHERE repository_key = '{app.key(repo, 0)[:-2]}'")
    return {number for (number,) in found}


def test_issues_from_before_the_app_are_learnt_and_an_edit_is_noticed(
    app: App, github: GitHubServer, twins: Repo
) -> None:
    old = github.world.open_issue(twins, TITLE, crash())["number"]
    opened(app, github, twins, "Colours", "The dark colours of the web view are too bright at night for my eyes.")
    number = opened(app, github, twins, ELSEWHERE, AGAIN)
    assert f"Probably the same as [`#{old}`]" in report(app, github, twins, number)
    twins.issues[old]["body"] = "Never mind, it was my own proxy."
    assert app.deliver("issues", issue_event(github.world, twins, old, "edited")) == 202
    app.settled()
    app.pass_time(61)
    wait_for(lambda: app.logged("edited", app.key(twins, old)), 15.0, lambda: app.log[-5:])
    last = opened(app, github, twins, "Cron again", AGAIN)
    assert f"Probably the same as [`#{number}`]" in report(app, github, twins, last)
