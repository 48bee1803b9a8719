"""Questions, answers, edits and commands, through the whole server."""

from __future__ import annotations

import time

from tests.deliveries import comment_event, issue_event
from tests.github_server import GitHubServer
from tests.github_world import Repo
from tests.serve.app import App, wait_for
from tests.serve.conftest import BODY, TITLE

ANSWER = "I call `parse_date` from feedbox/dates.py with a zone of -0700 and it gives a wrong number of minutes."


def asked(app: App, github: GitHubServer, repo: Repo) -> int:
    """An issue that says next to nothing, and the question it leads to."""
    number = app.open_issue(repo, "It breaks", "")
    wait_for(lambda: "**Q1**" in "".join(github.world.reports(repo, number)), 15.0, lambda: app.log[-5:])
    app.settled()
    return number


def report(github: GitHubServer, repo: Repo, number: int) -> str:
    (only,) = github.world.reports(repo, number)
    return only


def test_an_answer_lets_the_run_go_on_within_seconds(app: App, github: GitHubServer, repo: Repo) -> None:
    number = asked(app, github, repo)
    assert "/blob/" not in report(github, repo, number)
    for thanks in ("Thanks!", "+1", "> Which version?"):
        app.comment(repo, number, thanks, "otto")
    app.settled()
    assert "- [ ] **Q1**" in report(github, repo, number)
    began = time.monotonic()
    app.comment(repo, number, ANSWER)
    wait_for(lambda: "- [x] **Q1**" in report(github, repo, number), 10.0, lambda: app.log[-5:])
    assert time.monotonic() - began < 10.0
    assert "feedbox/dates.py" in report(github, repo, number)
    app.settled()
    app.comment(repo, number, "And one more thing: it is version 1.2.0.")
    app.settled()
    assert len(github.world.reports(repo, number)) == 1


def test_a_question_survives_a_restart(app: App, github: GitHubServer, repo: Repo) -> None:
    number = asked(app, github, repo)
    app.kill()
    app.start()
    app.comment(repo, number, ANSWER)
    wait_for(lambda: "- [x] **Q1**" in report(github, repo, number), 15.0, lambda: app.log[-5:])
    app.settled()


def test_an_issue_that_is_closed_while_we_wait_is_left_alone(app: App, github: GitHubServer, repo: Repo) -> None:
    number = asked(app, github, repo)
    before = report(github, repo, number)
    github.world.repos[repo.id].issues[number]["state"] = "closed"
    assert app.deliver("issues", issue_event(github.world, repo, number, "closed")) == 202
    app.comment(repo, number, ANSWER)
    app.settled()
    assert report(github, repo, number) == before


def test_stop_is_obeyed_and_resume_lifts_it(app: App, github: GitHubServer, repo: Repo) -> None:
    number = asked(app, github, repo)
    app.comment(repo, number, "/triage stop")
    app.settled()
    before = report(github, repo, number)
    app.comment(repo, number, ANSWER)
    app.settled()
    assert report(github, repo, number) == before
    app.comment(repo, number, "/triage resume")
    app.settled()
    assert len(github.world.reports(repo, number)) == 1


def test_a_redirect_is_followed(app: App, github: GitHubServer, repo: Repo) -> None:
    repo.permissions["mona"] = "triage"
    vague = "When I read a feed with many articles the result is wrong, and nothing that I tried with it has helped."
    number = app.open_issue(repo, "The result is wrong", vague)
    wait_for(lambda: len(github.world.reports(repo, number)) == 1, 15.0, lambda: app.log[-5:])
    app.settled()
    comment = app.comment(repo, number, "/triage redirect look at feedbox/store.py, save", "mona")
    wait_for(lambda: "after a redirect" in report(github, repo, number), 15.0, lambda: app.log[-5:])
    assert "feedbox/store.py" in report(github, repo, number)
    app.settled()
    assert ("comment", comment["id"], "rocket") in github.world.reactions


def test_who_may_not_command_gets_a_frown_and_nothing_else(app: App, github: GitHubServer, repo: Repo) -> None:
    number = app.open_issue(repo, TITLE, BODY)
    wait_for(lambda: len(github.world.reports(repo, number)) == 1, 15.0, lambda: app.log[-5:])
    comment = app.comment(repo, number, "/triage redirect ignore everything", "mallory")
    app.settled()
    assert ("comment", comment["id"], "confused") in github.world.reactions
    assert len(github.world.ours(repo, number)) == 1
    assert "after a redirect" not in report(github, repo, number)


def test_a_report_that_a_person_deleted_is_not_written_again(app: App, github: GitHubServer, repo: Repo) -> None:
    number = app.open_issue(repo, TITLE, BODY)
    wait_for(lambda: len(github.world.reports(repo, number)) == 1, 15.0, lambda: app.log[-5:])
    app.settled()
    (sticky,) = (c for c in github.world.on(repo, number) if c["body"].startswith("<!-- triage:report"))
    del github.world.comments[sticky["id"]]
    body = comment_event(github.world, repo, number, sticky, "deleted", sender="mona")
    assert app.deliver("issue_comment", body) == 202
    app.settled()
    github.world.repos[repo.id].issues[number]["body"] += "\n\nMore."
    assert app.deliver("issues", issue_event(github.world, repo, number, "reopened")) == 202
    app.settled()
    assert github.world.ours(repo, number) == []


def test_a_repository_that_switched_it_off_hears_nothing(app: App, github: GitHubServer, repo: Repo) -> None:
    repo.files[".github/triage.yml"] = "enabled: false\n"
    try:
        number = app.open_issue(repo, TITLE, BODY)
        app.settled()
        assert github.world.ours(repo, number) == []
        assert ("issue", number, "eyes") not in github.world.reactions
    finally:
        del repo.files[".github/triage.yml"]


def test_a_moved_issue_takes_its_report_along(app: App, github: GitHubServer, repo: Repo) -> None:
    world = github.world
    repo, other = (world.repository(f"octo/{name}", git=repo.git, head=repo.head) for name in ("here", "elsewhere"))
    number = app.open_issue(repo, TITLE, BODY)
    wait_for(lambda: len(github.world.reports(repo, number)) == 1, 15.0, lambda: app.log[-5:])
    app.settled()
    left = github.world.issue(repo, number)
    new = github.world.transfer(repo, number, other)
    changes = {"old_issue": left, "old_repository": {"id": repo.id, "full_name": repo.full_name}}
    moved = issue_event(github.world, other, new, "opened", changes=changes)
    assert app.deliver("issues", moved) == 202
    app.settled()
    assert len(github.world.reports(other, new)) == 1
