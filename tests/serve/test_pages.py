"""Pages of a running server: they follow a run live and do not delay a shutdown."""

from __future__ import annotations

import re
from pathlib import Path

import httpx

from tests.serve.app import running, wait_for
from tests.serve.conftest import BODY, TITLE
from tests.servers.github_server import GitHubServer
from tests.servers.github_world import Repo
from tests.support.patience import patience

TOKEN = "an-operators-own-token"


def test_a_page_follows_an_issue_to_its_report_and_does_not_prevent_the_stop(
    github: GitHubServer, repo: Repo, tmp_path: Path
) -> None:
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    with (
        running(github, tmp_path / "data", TRIAGE_ADMIN_TOKEN=TOKEN) as app,
        httpx.Client(base_url=app.url, headers=bearer, timeout=patience(60)) as http,
        http.stream("GET", "/runs/live") as stream,
    ):
        lines = stream.iter_lines()
        assert next(line for line in lines if line.startswith(":")) == ": watching"
        number = app.open_issue(repo, TITLE, BODY)
        shown = next(line for line in lines if f"{repo.full_name} #{number} is" in line)
        assert "data-say" in shown
        wait_for(lambda: len(github.world.reports(repo, number)) == 1, 60.0, lambda: app.log[-5:])
        app.settled(60.0)
        page = http.get(f"/runs/{repo.full_name}/{number}", follow_redirects=True).text
        assert TITLE in page
        assert "How it was found" in page
        assert "Writer" in page
        assert re.search(rf'href="{github.url}/{repo.full_name}/blob/{repo.head}/feedbox/dates.py#L\d+-L\d+"', page)
        assert "The comment as posted" in page
        assert app.stop() == 0
        for _ in lines:
            """The server ended the stream."""
    assert not any("Cancel" in str(line.get("message")) for line in app.log)
