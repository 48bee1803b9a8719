"""A new data folder and a stop during work, with real processes: no unexpected log record."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from bot.server.process import HTTP_DRAIN
from bot.worker.dispatch.worker_process import DRAIN, GIVES_UP_AFTER
from tests.serve.app import App, running, wait_for
from tests.serve.conftest import BODY, TITLE
from tests.servers.github_server import GitHubServer
from tests.servers.github_world import Repo

pytestmark = pytest.mark.timeout(600)  # servers are started, one of them three times
SECRET = "It fails with the token ghp_" + "a1B2" * 9
ISSUES = 5


def unforeseen(app: App) -> list[object]:
    """Return the records that must not be in the log of a healthy server."""
    signs = ("Traceback", "cannot schedule", "no such table", "job_failed", "never retrieved")
    return [line for line in app.log if any(sign in str(line) for sign in signs)]


def test_a_run_that_never_asked_the_graph_ends_in_a_fresh_folder(
    github: GitHubServer, repo: Repo, tmp_path: Path
) -> None:
    with running(github, tmp_path / "data") as app:
        number = app.open_issue(repo, "It fails", SECRET)
        wait_for(lambda: bool(github.world.ours(repo, number)), 40.0, lambda: app.log[-5:])
        app.settled()
        assert app.ask("SELECT status FROM runs") == [("finished",)]
        assert unforeseen(app) == []


def test_a_stop_leaves_three_of_the_ten_seconds_that_orchestrators_grant() -> None:
    assert HTTP_DRAIN + DRAIN + GIVES_UP_AFTER <= 7


def test_a_stop_under_load_causes_no_fault(github: GitHubServer, repo: Repo, tmp_path: Path) -> None:
    app = App(github, tmp_path / "data")
    app.start()
    try:
        numbers = [app.open_issue(repo, f"{TITLE} {n}", BODY) for n in range(ISSUES)]
        for pause in (0.0, 0.4):
            wait_for(lambda: bool(app.ask("SELECT 1 FROM jobs WHERE state = 'doing'")), 40.0, lambda: app.log[-5:])
            time.sleep(pause)  # so that each stop interrupts other steps
            assert app.stop() == 0
            assert unforeseen(app) == []
            app.start()
        wait_for(lambda: all(github.world.reports(repo, n) for n in numbers), 120.0, lambda: app.log[-5:])
        app.settled()
        assert [len(github.world.reports(repo, n)) for n in numbers] == [1] * ISSUES
        assert unforeseen(app) == []
    finally:
        app.kill()
