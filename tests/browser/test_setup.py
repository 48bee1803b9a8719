"""From `triage serve` to a working App, in a browser."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.chromium import Tab, assert_accessible
from tests.serve.app import App, wait_for
from tests.serve.conftest import BODY, FILES, TITLE
from tests.servers.github_server import GitHubServer, serve_github
from tests.support.repositories import make_repository

pytestmark = pytest.mark.asyncio(loop_scope="session")

NO_APP = dict.fromkeys(("GITHUB_APP_ID", "GITHUB_PRIVATE_KEY", "GITHUB_WEBHOOK_SECRET"), "")


@pytest.fixture
def github() -> Iterator[GitHubServer]:
    with serve_github() as server:
        yield server


@pytest.fixture
def app(github: GitHubServer, tmp_path: Path) -> Iterator[App]:
    """Yield a server without an App."""
    app = App(github, tmp_path / "data", NO_APP)
    app.start(ready=False)
    yield app
    app.kill()


async def test_a_newcomer_comes_to_a_working_app(app: App, github: GitHubServer, tmp_path: Path, tab: Tab) -> None:
    sha = make_repository(tmp_path / "origin", FILES)
    repo = github.world.repository("octo/feedbox", git=tmp_path / "origin", head=sha)
    tab.origins.add(github.url)

    await tab.open(app.url)
    await assert_accessible(tab)
    await tab.open(app.setup_address())
    await tab.page.get_by_role("heading", name="Create the GitHub App").wait_for()
    assert "token" not in tab.page.url
    await assert_accessible(tab)
    await tab.page.get_by_role("button", name="Create the App on GitHub").click()
    await tab.page.get_by_role("button", name="Create GitHub App").click()
    await tab.page.get_by_role("heading", name="tracehound is running").wait_for()
    await assert_accessible(tab)
    install = await tab.page.get_by_role("link", name="Install tracehound").get_attribute("href")
    assert install == f"{github.url}/github-apps/tracehound/installations/new"

    number = app.open_issue(repo, TITLE, BODY)
    wait_for(lambda: len(github.world.reports(repo, number)) == 1, 60.0, lambda: app.log[-5:])
    assert "feedbox/dates.py" in github.world.reports(repo, number)[0]
    kept = app.data / "app.json"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert len(github.asked("POST", "/conversions")) == 1
    assert not [line for line in app.log if json.loads(kept.read_text())["triage_admin_token"] in str(line)]
    assert (await tab.page.goto(f"{app.url}/setup")).status == 410
    tab.excuse("410")
