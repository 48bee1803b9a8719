"""Pages of a running server follow a run."""

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


def test_a_page_follows_an_issue_to_its_report(github: GitHubServer, repo: Repo, tmp_path: Path) -> None:
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    with (
        running(github, tmp_path / "data", TRIAGE_ADMIN_TOKEN=TOKEN) as app,
        httpx.Client(base_url=app.url, headers=bearer, timeout=patience(60)) as http,
    ):
        seen = http.get("/runs/rows").headers["x-seen"]
        assert http.get("/runs/rows", params={"seen": seen}).status_code == 204
        number = app.open_issue(repo, TITLE, BODY)
        wait_for(lambda: f"#{number}" in http.get("/runs/rows", params={"seen": seen}).text, 60.0, lambda: app.log[-5:])
        wait_for(lambda: len(github.world.reports(repo, number)) == 1, 60.0, lambda: app.log[-5:])
        app.settled(60.0)
        page = http.get(f"/runs/{repo.full_name}/{number}", follow_redirects=True).text
        assert TITLE in page
        assert "How it was found" in page
        assert "Writer" in page
        assert re.search(rf'href="{github.url}/{repo.full_name}/blob/{repo.head}/feedbox/dates.py#L\d+-L\d+"', page)
        assert "a maintainer decides" in page
        assert app.stop() == 0
    assert not any("Cancel" in str(line.get("message")) for line in app.log)
