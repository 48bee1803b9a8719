"""An answer is acknowledged, and an open question is reminded of where the repository wants it."""

from __future__ import annotations

import pytest

from tests.serve.app import App, wait_for
from tests.serve.conftest import on_both_databases
from tests.servers.github_server import LOST_ANSWER, Call, Fault, GitHubServer
from tests.servers.github_world import Repo

pytestmark = on_both_databases

ANSWER = "I call `parse_date` from feedbox/dates.py with a zone of -0700 and it gives a wrong number of minutes."
VAGUE = "It happens each time that I use it and there is nothing else that I could say about what goes on there."
DAY = 86_400.0


def asked(app: App, github: GitHubServer, repo: Repo) -> int:
    """Open an issue with almost no information; return its number when a question was asked."""
    number = app.open_issue(repo, "It breaks", "")
    wait_for(lambda: "**Q1**" in "".join(github.world.reports(repo, number)), 60.0, lambda: app.log[-5:])
    app.settled(60.0)
    return number


def marked(github: GitHubServer, repo: Repo, number: int, marker: str) -> list[str]:
    """Return our comments that begin with a marker."""
    return [body for body in github.world.ours(repo, number) if body.startswith(f"<!-- triage:{marker} ")]


@pytest.mark.parametrize("fault", [None, LOST_ANSWER], ids=["usual", "response-lost"])
def test_an_answer_is_acknowledged_and_a_new_finding_notifies_once(
    app: App, github: GitHubServer, repo: Repo, fault: Fault | None
) -> None:
    number = asked(app, github, repo)

    def lost(call: Call) -> Fault | None:
        return fault if call.method == "POST" and "triage:answered" in str(call.body) else None

    github.fault = lost
    answer = app.comment(repo, number, ANSWER)
    wait_for(lambda: bool(marked(github, repo, number, "answered")), 60.0, lambda: app.log[-5:])
    github.fault = lambda _call: None
    app.settled(60.0)
    app.pass_time(60.0)
    app.settled(60.0)
    (reply,) = marked(github, repo, number, "answered")
    (sticky,) = (one for one in github.world.on(repo, number) if one["body"].startswith("<!-- triage:report"))
    assert "Thank you, the answer was read." in reply
    assert f"issues/{number}#issuecomment-{sticky['id']}) names a place to look at: `feedbox/dates.py`." in reply
    assert "@" not in reply
    wait_for(lambda: ("comment", answer["id"], "eyes") in github.world.reactions, 60.0, lambda: app.log[-5:])
    app.comment(repo, number, "And thank you for the quick reply, it was indeed that function of course.")
    app.settled(60.0)
    assert len(marked(github, repo, number, "answered")) == 1


def test_an_answer_without_effect_gets_only_a_reaction(app: App, github: GitHubServer, repo: Repo) -> None:
    number = asked(app, github, repo)
    answer = app.comment(repo, number, VAGUE)
    wait_for(lambda: ("comment", answer["id"], "eyes") in github.world.reactions, 60.0, lambda: app.log[-5:])
    app.settled(60.0)
    assert marked(github, repo, number, "answered") == []


def test_an_open_question_is_reminded_of_once_and_then_labelled(app: App, github: GitHubServer, repo: Repo) -> None:
    repo.files[".github/triage.yml"] = "remind_after_days: 3\nlabels: {map: {no-answer: stale}}\n"
    repo.labels.add("stale")
    number = asked(app, github, repo)
    assert marked(github, repo, number, "reminder") == []
    for _ in range(2):
        app.pass_time(3 * DAY)
        app.settled(60.0)
        (reminder,) = marked(github, repo, number, "reminder")
    assert "is still open. If no answer comes, the report is written without it; nothing is closed." in reminder
    assert "**Q1**" in reminder
    assert "@" not in reminder
    issue = github.world.repos[repo.id].issues[number]
    assert "stale" not in [label["name"] for label in issue["labels"]]
    app.pass_time(14 * DAY)
    wait_for(lambda: "no answer in 14 days" in github.world.reports(repo, number)[0], 60.0, lambda: app.log[-5:])
    app.settled(60.0)
    assert "stale" in [label["name"] for label in issue["labels"]]
    assert issue["state"] == "open"
    assert len(marked(github, repo, number, "reminder")) == 1


@pytest.mark.parametrize("how", ["answered", "off", "switched-off"])
def test_no_reminder_is_posted(app: App, github: GitHubServer, repo: Repo, how: str) -> None:
    if how != "off":
        repo.files[".github/triage.yml"] = "remind_after_days: 3\n"
    number = asked(app, github, repo)
    if how == "answered":
        app.comment(repo, number, ANSWER)
        app.settled(60.0)
    repo.files[".github/triage.yml"] = "remind_after_days: 3\n" if how == "answered" else "mode: comment\n"
    app.pass_time(3 * DAY)
    app.settled(60.0)
    assert marked(github, repo, number, "reminder") == []
