"""A thread with a real server: a question, an answer, commands, and other comments."""

from __future__ import annotations

from tests.serve.app import App, wait_for
from tests.serve.conftest import BODY, TITLE, on_both_databases
from tests.servers.github_server import GitHubServer
from tests.servers.github_world import Repo

pytestmark = on_both_databases

CLAIM = "The fix is probably in this file"
PLACE = "/feedbox/dates.py#L"
CRASH = (
    BODY.replace("line 10", "line 11")
    .replace('raise ValueError(f"no zone in {text!r}")', "hours = int(match[2])")
    .replace("ValueError: no zone in 'Mon, 02 Jun 2025'", "TypeError: 'NoneType' object is not subscriptable")
)
"""An error that the line does not raise on purpose, so that a report claims its file."""
ANSWER = "It ends in parse_date: `ValueError: no zone in 'Mon'`"


def _claims_the_dates(body: str) -> bool:
    return CLAIM in body and PLACE in body.partition(CLAIM)[0]


def sticky(github: GitHubServer, repo: Repo, number: int) -> str:
    """Return the only report, or an empty string if none exists."""
    reports = github.world.reports(repo, number)
    assert len(reports) <= 1
    return reports[0] if reports else ""


def ask(app: App, github: GitHubServer, repo: Repo) -> int:
    """Open an issue with too little information, and return it with the question."""
    number = app.open_issue(repo, "It fails", "It does not work.")
    wait_for(
        lambda: "**Q1**" in sticky(github, repo, number), 40.0, lambda: (sticky(github, repo, number), app.log[-5:])
    )
    return number


def test_an_answer_lets_the_run_continue(app: App, github: GitHubServer, repo: Repo) -> None:
    number = ask(app, github, repo)
    assert "- [ ] **Q1**" in sticky(github, repo, number)
    assert "dates.py" not in sticky(github, repo, number)
    for noise in ("+1", "thanks!", "any news?"):
        app.comment(repo, number, noise, "otto")
    app.settled()
    assert "- [ ] **Q1**" in sticky(github, repo, number)
    answer = app.comment(repo, number, ANSWER)
    wait_for(lambda: "- [x] **Q1**" in sticky(github, repo, number), 10.0, lambda: app.log[-5:])
    assert f"[answered]({answer['html_url']})" in sticky(github, repo, number)
    assert "dates.py" in sticky(github, repo, number)
    # The reply may wait while GitHub's write limit only has room for reports.
    wait_for(lambda: len(github.world.ours(repo, number)) == 2, 100.0, lambda: app.log[-5:])
    assert [body.split(" ", 2)[1] for body in github.world.ours(repo, number)] == ["triage:report", "triage:answered"]


def test_a_waiting_question_survives_a_kill(app: App, github: GitHubServer, repo: Repo) -> None:
    number = ask(app, github, repo)
    app.settled()
    app.kill()
    app.start()
    app.comment(repo, number, ANSWER)
    wait_for(lambda: "- [x] **Q1**" in sticky(github, repo, number), 40.0, lambda: app.log[-5:])
    assert sticky(github, repo, number).count("**Q1**") == 1


def test_a_redirect_withdraws_the_question_and_is_obeyed(app: App, github: GitHubServer, repo: Repo) -> None:
    repo.permissions["mia"] = "push"
    number = ask(app, github, repo)
    app.comment(repo, number, "/triage redirect look at parse_date in feedbox/dates.py", "mia")
    wait_for(lambda: "dates.py" in sticky(github, repo, number), 40.0, lambda: app.log[-5:])
    app.settled()
    assert "withdrawn" in sticky(github, repo, number)


def test_a_redirect_leads_the_report_whatever_the_issue_is_full_of(app: App, github: GitHubServer, repo: Repo) -> None:
    repo.permissions["mia"] = "push"
    number = app.open_issue(repo, TITLE, CRASH)
    wait_for(
        lambda: _claims_the_dates(sticky(github, repo, number)),
        40.0,
        lambda: app.log[-5:],
    )
    app.comment(repo, number, "/triage redirect look at the store", "mia")
    wait_for(lambda: "after a redirect" in sticky(github, repo, number), 40.0, lambda: app.log[-5:])
    report = sticky(github, repo, number)
    assert "**A maintainer said to look at `feedbox/store.py`.**" in report
    assert "feedbox/store.py#L" in report.partition("<details>")[0]
    assert "dates.py" in report
    app.comment(repo, number, "/triage redirect no, parse_date after all", "mia")
    wait_for(
        lambda: _claims_the_dates(sticky(github, repo, number)),
        40.0,
        lambda: app.log[-5:],
    )


def test_what_was_called_wrong_is_not_claimed_again(app: App, github: GitHubServer, repo: Repo) -> None:
    repo.permissions["mia"] = "push"
    number = app.open_issue(repo, TITLE, CRASH)
    wait_for(
        lambda: _claims_the_dates(sticky(github, repo, number)),
        40.0,
        lambda: app.log[-5:],
    )
    app.comment(repo, number, "/triage wrong it fails long before that", "mia")
    wait_for(lambda: CLAIM not in sticky(github, repo, number), 40.0, lambda: app.log[-5:])
    app.settled()
    assert CLAIM not in sticky(github, repo, number)


def test_stop_and_resume_are_obeyed(app: App, github: GitHubServer, repo: Repo) -> None:
    repo.permissions["mia"] = "push"
    number = app.open_issue(repo, TITLE, BODY)
    wait_for(lambda: bool(sticky(github, repo, number)), 40.0, lambda: app.log[-5:])
    app.comment(repo, number, "/triage stop")
    app.settled()
    before = sticky(github, repo, number)
    app.comment(repo, number, "/triage redirect look at feedbox/store.py and save", "mia")
    app.settled()
    assert sticky(github, repo, number) == before
    resumed = app.comment(repo, number, "/triage resume", "mia")  # a report with the same text is not edited
    wait_for(lambda: ("comment", resumed["id"], "rocket") in github.world.reactions, 40.0, lambda: app.log[-5:])


def test_a_reply_to_a_command_is_one_short_comment(app: App, github: GitHubServer, repo: Repo) -> None:
    number = app.open_issue(repo, TITLE, BODY)
    wait_for(lambda: bool(sticky(github, repo, number)), 40.0, lambda: app.log[-5:])
    app.settled()
    app.comment(repo, number, "/triage why")
    wait_for(lambda: len(github.world.ours(repo, number)) == 2, 10.0, lambda: app.log[-5:])
    assert "Path through the graph" in github.world.ours(repo, number)[1]
    app.comment(repo, number, "/triage redirect elsewhere", "olaf")  # reactions wait while many are left
    app.settled()
    assert len(github.world.ours(repo, number)) == 2


def test_a_leaked_token_is_not_analysed(app: App, github: GitHubServer, repo: Repo) -> None:
    number = app.open_issue(repo, TITLE, f"{BODY}\nI use token ghp_Zk3vQ9xLmB7tR2sWcY5nJ8dF1hG4pA6eUoXi")
    wait_for(lambda: bool(sticky(github, repo, number)), 40.0, lambda: app.log[-5:])
    assert "revoke it" in sticky(github, repo, number)
    assert "dates.py" not in sticky(github, repo, number)
    assert not any("ghp_" in str(line) for line in app.log)
