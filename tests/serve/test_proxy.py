"""A proxy that temporarily responds instead of GitHub only costs time, with the whole server."""

from __future__ import annotations

import pytest

from tests.serve.app import App, wait_for
from tests.serve.conftest import BODY, TITLE
from tests.servers.deliveries import issue_event
from tests.servers.github_server import Call, Fault, GitHubServer
from tests.servers.github_world import Repo

PAGE = b"<html><body>Log in to use this network</body></html>"
FAULTS = {
    "a-page": Fault(200, {"Content-Type": "text/html"}, content=PAGE),
    "broken-json": Fault(200, {"Content-Type": "application/json"}, content=b'{"number": 1, "title": "It'),
    "another-shape": Fault(200, {"Content-Type": "application/json"}, content=b'{"error": "login required"}'),
    "not-there": Fault(404, {"Content-Type": "text/html"}, content=PAGE),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_an_issue_is_triaged_once_github_itself_answers_again(
    app: App, github: GitHubServer, repo: Repo, fault: Fault
) -> None:
    """For five attempts a proxy answers instead of the API, then instead of git; jobs once survived only four."""
    number = github.world.open_issue(repo, TITLE, BODY)["number"]
    key = app.key(repo, number)

    def attempts() -> int:
        rows = app.ask(f"SELECT attempt FROM jobs WHERE issue_key = '{key}' AND state = 'todo'")
        return int(rows[0][0]) if rows else 0

    def waited(more: int) -> None:
        for one in range(attempts() + 1, attempts() + 1 + more):
            wait_for(lambda one=one: attempts() >= one, 30.0, lambda: app.log[-5:])
            app.pass_time(70.0)

    github.fault = lambda _call: fault
    try:
        assert app.deliver("issues", issue_event(github.world, repo, number, "opened")) == 202
        waited(5)

        def git_alone(call: Call) -> Fault | None:
            return fault if ".git/" in call.path or call.path.endswith("/commits") else None

        github.fault = git_alone
        if fault.status == 200:  # git's own 404 counts by now, and the report is written without the code
            waited(1)
    finally:
        github.fault = lambda _call: None
    app.pass_time(70.0)
    wait_for(lambda: len(github.world.reports(repo, number)) == 1, 40.0, lambda: app.log[-5:])
    app.settled()
    (report,) = github.world.reports(repo, number)
    assert "feedbox/dates.py" in report
    assert app.ask("SELECT count(*) FROM jobs WHERE state = 'dead'") == [(0,)]
