"""Code that is unreadable, force-pushed away or too large: the report states what it is based on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.serve.app import App, running, wait_for
from tests.serve.conftest import BODY, FILES, TITLE
from tests.serve.test_talk import ANSWER, ask, sticky
from tests.servers.deliveries import issue_event
from tests.servers.github_server import Fault, GitHubServer
from tests.servers.github_world import GRANTED, Repo
from tests.support.bombs import tree_bomb
from tests.support.preloaded import GIT_LIMITS
from tests.support.repositories import git, make_repository

NAMES = ("parse_date ignores the sign", "It gives the minutes of +0700.")
"""The words of an issue that asks for few searches."""
CLAIMS = ("Searched the code", "matches", "strong enough", "Commit read", "Most likely", "searched as")


def report_of(app: App, github: GitHubServer, repo: Repo, title: str = TITLE, body: str = BODY) -> str:
    """Return the report on a new issue."""
    number = app.open_issue(repo, title, body)
    wait_for(
        lambda: bool(sticky(github, repo, number)), 35.0, lambda: app.ask("SELECT id, issue_key, state, said FROM jobs")
    )
    return sticky(github, repo, number)


def test_an_empty_repository_was_not_searched(github: GitHubServer, tmp_path: Path) -> None:
    (tmp_path / "origin").mkdir()
    git(tmp_path / "origin", "init", "--quiet", "--bare")
    repo = github.world.repository("octo/without-a-commit", git=tmp_path / "origin", installation=3_000)
    with running(github, tmp_path / "data") as app:
        reports = [report_of(app, github, repo, *text) for text in ((TITLE, BODY), ("It fails", "It does not work."))]
    for report in reports:
        assert "The code could not be read, so the report names no place." in report
        assert "the repository has no commit yet" in report
        assert not [claim for claim in CLAIMS if claim in report], report
        assert "**Q1**" not in report


def test_a_repository_that_git_cannot_fetch_was_not_searched(app: App, github: GitHubServer, tmp_path: Path) -> None:
    sha = make_repository(tmp_path, FILES)
    repo = github.world.repository("octo/hidden", git=tmp_path, head=sha)
    before = github.fault
    github.fault = lambda call: Fault(status=404) if "octo/hidden.git" in call.path else before(call)
    try:
        text = report_of(app, github, repo)
    finally:
        github.fault = before
    assert "nothing was searched" in text
    assert "the server does not allow it" in text
    assert not [claim for claim in CLAIMS if claim in text], text
    stored = "SELECT count(*) FROM runs WHERE result LIKE '%code_not_readable%'"
    wait_for(lambda: app.ask(stored)[0][0] >= 1, 20.0, lambda: app.log[-5:])


def test_after_a_force_push_while_a_question_waits_the_code_is_searched_again(
    app: App, github: GitHubServer, tmp_path: Path
) -> None:
    old = make_repository(tmp_path, FILES)
    repo = github.world.repository("octo/forced", git=tmp_path, head=old)
    number = ask(app, github, repo)
    app.settled()
    git(tmp_path, "update-ref", "-d", "refs/heads/main")
    moved = {**FILES, "feedbox/dates.py": "\n" * 20 + FILES["feedbox/dates.py"]}
    new = make_repository(tmp_path, moved, message="Another beginning")
    repo.head = new
    app.comment(repo, number, ANSWER)
    wait_for(lambda: "dates.py" in sticky(github, repo, number), 60.0, lambda: app.log[-5:])
    text = sticky(github, repo, number)
    assert (f"/{old}/" in text, f"/{new}/" in text) == (False, True)
    plain = text.replace("`", "")
    assert f"Commit {old[:12]}, which was searched first, is no longer on the default branch." in plain
    assert f"{new[:12]} was searched instead" in plain
    assert "- [x] **Q1**" in text


def test_a_push_while_a_question_waits_changes_nothing(app: App, github: GitHubServer, tmp_path: Path) -> None:
    old = make_repository(tmp_path, FILES)
    repo = github.world.repository("octo/pushed", git=tmp_path, head=old)
    number = ask(app, github, repo)
    app.settled()
    repo.head = make_repository(tmp_path, {**FILES, "later.py": "x = 1\n"})
    app.comment(repo, number, ANSWER)
    wait_for(lambda: "dates.py" in sticky(github, repo, number), 60.0, lambda: app.log[-5:])
    assert f"/{old}/" in sticky(github, repo, number)
    assert "no longer on" not in sticky(github, repo, number)


@pytest.mark.timeout(300)
def test_a_bomb_repository_gets_one_report_and_delays_no_other(
    github: GitHubServer, repo: Repo, tmp_path: Path
) -> None:
    sha = tree_bomb(tmp_path / "bomb")
    bomb = github.world.repository("octo/bomb", git=tmp_path / "bomb", head=sha)
    # A search of such a tree ends at the time limit: by default after 60 seconds, and then after 15.
    limits = {GIT_LIMITS: json.dumps({"seconds": 12.0, "listing": 8_000_000})}
    with running(github, tmp_path / "data", **limits) as app:
        first = app.open_issue(bomb, *NAMES)
        healthy = app.open_issue(repo, TITLE, BODY)
        wait_for(lambda: bool(sticky(github, repo, healthy)), 60.0, lambda: app.log[-5:])
        assert app.ask("SELECT issue_key FROM jobs WHERE state = 'doing'"), "the other waited for the bomb"
        # Nothing was found, so a report is only posted for a command; the assertion waits for it.
        app.settled()
        assert sticky(github, bomb, first) == ""
        second = app.open_issue(bomb, *NAMES)
        for number in (first, second):
            app.comment(bomb, number, "/triage")
            wait_for(lambda number=number: bool(sticky(github, bomb, number)), 100.0, lambda: app.log[-5:])
    plain = "this repository is too large to search completely"
    assert (plain in sticky(github, bomb, first), plain in sticky(github, bomb, second)) == (True, False)
    text = [line for line in app.log if line.get("action") == "repository_too_large"]
    assert [line["limit"] for line in text if line["limit"] == "repository.files"] == ["repository.files"]


def test_the_fix_and_the_pull_requests_of_an_issue_are_named(app: App, github: GitHubServer, tmp_path: Path) -> None:
    origin = tmp_path / "origin"
    make_repository(origin, FILES)
    fix = make_repository(origin, {**FILES, "notes.md": "Signs.\n"}, message="Read the sign (#45)\n\nFixes #1")
    git(origin, "tag", "v1.3.0")
    repo = github.world.repository("octo/fixed-already", installation=4_100, git=origin, head=fix)
    repo.pulls = {
        46: {"title": "Split the dates", "files": ["feedbox/dates.py"]},
        47: {"title": "Save faster", "files": ["feedbox/store.py"]},
    }
    github.world.open_issue(repo, TITLE, BODY)
    repo.issues[1]["created_at"] = "2023-12-31T00:00:00Z"
    github.world.granted = {**GRANTED, "pull_requests": "read"}
    try:
        app.deliver("issues", issue_event(github.world, repo, 1, "opened"))
        wait_for(lambda: bool(github.world.reports(repo, 1)), 25.0, lambda: app.log[-5:])
        app.settled()
    finally:
        github.world.granted = {}
    (report,) = github.world.reports(repo, 1)
    assert f"Probably fixed already by [`{fix[:7]}`]" in report
    assert "its message says that it fixes this issue; 1.3.0 contains it" in report
    assert "`#45` (merged) “Read the sign" in report
    assert "`#46` (open) “Split the dates”: changes `dates.py`, which is named here" in report
    assert "#47" not in report
