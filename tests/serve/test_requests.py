"""The number of requests that a warm issue costs of GitHub's rate limit."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.serve.app import App, wait_for
from tests.serve.conftest import BODY, TITLE
from tests.servers.github_server import GitHubServer
from tests.servers.github_world import Repo

MAX_REQUESTS = 7
THIRD = ("README names no version", "The first line of `README.md` should say which version of feedbox it is about.")
LEARNING = "SELECT count(*) FROM jobs WHERE state <> 'done' AND work LIKE '%learn_past%'"
OTHER = ("save fails on a path that is a string", "`save(article, 'a.txt')` in feedbox/store.py wants a `Path`.")


@pytest.mark.parametrize("config", [None, "mode: comment\n"], ids=["no-file", "a-file"])
def test_a_warm_issue_costs_at_most_seven_requests(
    app: App, github: GitHubServer, repo: Repo, config: str | None
) -> None:
    name = f"octo/counted{len(github.world.repos)}"  # no earlier issue is similar
    repo = github.world.repository(name, git=repo.git, head=repo.head, labels={"bug"})
    if config is not None:
        repo.files[".github/triage.yml"] = config
    for title, body in ((TITLE, BODY), THIRD, OTHER):
        before, free = len(github.calls), len(github.free)
        number = app.open_issue(repo, title, body)
        wait_for(
            lambda n=number, t=title: len(github.world.reports(repo, n)) == 1 or t == THIRD[0],
            40.0,
            lambda: app.log[-5:],
        )
        app.settled()
        # The repository's old issues are read once, some seconds after its first delivery; no issue is charged for it.
        wait_for(lambda: app.ask(LEARNING)[0][0] == 0, 30.0, lambda: app.log[-5:])
    # On GitHub, a second read of an issue includes our reaction, so it counts.
    every = [f"{call.method} {call.path}" for call in github.calls[before:]]
    counted = Counter(every) - Counter(f"{call.method} {call.path}" for call in github.free[free:])
    print(f"{len(every)} requests, {counted.total()} of which count: {sorted(counted)}")
    assert counted.total() <= MAX_REQUESTS, sorted(counted.elements())
    assert ("issue", number, "rocket") in github.world.reactions
