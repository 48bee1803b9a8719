"""The same server with its durable data in Postgres."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.process import triage
from tests.serve.app import running, wait_for
from tests.serve.conftest import BODY, TITLE
from tests.servers.github_server import GitHubServer
from tests.servers.github_world import Repo
from tests.servers.postgres import Postgres


def test_the_database_contains_all_durable_data(
    postgres: Postgres, github: GitHubServer, repo: Repo, tmp_path: Path
) -> None:
    settings = {"DATABASE_URL": postgres.create()}
    with pytest.raises(AssertionError, match="run `triage migrate`"), running(github, tmp_path / "early", **settings):
        pass
    done = triage(tmp_path, "migrate", **settings)
    assert (done.returncode, "migration steps applied" in done.stdout) == (0, True), done.stderr
    assert triage(tmp_path, "migrate", **settings).stdout == "the database is up to date\n"
    with running(github, tmp_path / "one", **settings) as app:
        number = app.open_issue(repo, TITLE, BODY)
        app.kill()
    with running(github, tmp_path / "another", **settings) as app:  # as on another machine
        wait_for(lambda: len(github.world.reports(repo, number)) == 1, 30.0, lambda: app.log[-5:])
        wait_for(lambda: not app.counts().get("todo") and not app.counts().get("doing"), 30.0, app.counts)
    assert len(github.world.ours(repo, number)) == 1
    assert not list(tmp_path.rglob("*.db"))
    assert triage(tmp_path, "jobs", **settings).returncode == 0
