"""The pages of the first start and the login are accessible in both colour schemes and on a phone."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser

from bot.server.app import build_app
from bot.server.first_start import defaults_of
from bot.server.web.pages.setup import SetupPages, setup_app
from bot.settings.environment import Settings
from bot.settings.server import ServerSettings
from bot.store.databases.sqlite import SqliteStore
from tests.browser.chromium import Tab, assert_accessible, assert_sound, opened_tab
from tests.servers.github_pages import CLIENT_ID, CLIENT_SECRET
from tests.servers.github_server import Fault, GitHubServer, serve_github
from tests.servers.serving import NobodyWorks, serving

pytestmark = pytest.mark.asyncio(loop_scope="session")


@dataclass
class First:
    """A server without an App."""

    url: str
    token: str


@pytest.fixture
def github() -> Iterator[GitHubServer]:
    with serve_github() as server:
        yield server


@pytest_asyncio.fixture(loop_scope="session")
async def first(tmp_path: Path, github: GitHubServer) -> AsyncIterator[First]:
    settings = Settings(github_server_url=github.url, github_api_url=github.url, triage_data_dir=tmp_path)
    setup = SetupPages(settings, defaults_of(settings))
    async with serving(setup_app(setup)) as url:
        yield First(url, setup.pending.token)


@pytest.mark.parametrize(("dark", "phone"), [(False, False), (True, True)], ids=["light", "dark-on-a-phone"])
async def test_the_first_start(
    browser: Browser, first: First, github: GitHubServer, *, dark: bool, phone: bool
) -> None:
    async with opened_tab(browser, dark=dark, phone=phone) as tab:
        tab.origins.add(github.url)
        await assert_sound(tab, first.url)
        await assert_sound(tab, f"{first.url}/setup")
        tab.excuse("401")
        await assert_sound(tab, f"{first.url}/nothing")
        tab.excuse("404")
        await assert_sound(tab, f"{first.url}/setup?token={first.token}")
        await tab.page.get_by_text("Change the settings").click()
        await tab.page.get_by_label("GitHub", exact=True).fill("https://github.com")
        await tab.page.get_by_role("button", name="Preview the App").click()
        await tab.page.get_by_text("GitHub cannot send deliveries").wait_for()
        await assert_accessible(tab)


async def test_a_lost_code_is_reported_and_the_setup_restarted(first: First, github: GitHubServer, tab: Tab) -> None:
    tab.origins.add(github.url)
    github.fail("POST", "/conversions", Fault(status=404))
    await tab.open(f"{first.url}/setup?token={first.token}")
    await _through(tab)
    await tab.page.get_by_role("heading", name="No App was registered").wait_for()
    tab.excuse("502")
    await assert_accessible(tab)
    await tab.page.get_by_role("link", name="Start again").click()
    await tab.page.get_by_role("heading", name="Create the GitHub App").wait_for()


async def test_secrets_that_are_shown_once_can_be_read(first: First, github: GitHubServer, tab: Tab) -> None:
    tab.origins.add(github.url)
    await tab.open(f"{first.url}/setup?token={first.token}")
    await tab.page.get_by_text("Change the settings").click()
    await tab.page.get_by_label("Organisation").fill("octo-org")
    await tab.page.get_by_label("show them to me once").check()
    await tab.page.get_by_role("button", name="Preview the App").click()
    await tab.page.get_by_text("the organisation octo-org").wait_for()
    await _through(tab)
    await tab.page.get_by_text("GITHUB_WEBHOOK_SECRET=").wait_for()
    await assert_accessible(tab)
    assert github.world.registered[0]["owner"] == "octo-org"


async def test_a_person_logs_in_with_a_github_account(browser: Browser, tmp_path: Path, github: GitHubServer) -> None:
    github.world.signed_in = "rita"
    settings = Settings(
        triage_data_dir=tmp_path,
        github_client_id=CLIENT_ID,
        github_client_secret=CLIENT_SECRET,
        github_server_url=github.url,
        github_api_url=github.url,
    )
    store = SqliteStore(tmp_path / "store.db")
    app = build_app(ServerSettings(settings, 1, "", (b"secret",)), store, NobodyWorks())
    async with serving(app) as url, opened_tab(browser) as tab:
        tab.origins.add(github.url)
        await tab.open(url)
        await assert_accessible(tab)
        await tab.page.get_by_role("link", name="Log in with GitHub").click()
        await tab.page.get_by_text("rita").wait_for()
        await assert_accessible(tab)
    await store.aclose()


async def _through(tab: Tab) -> None:
    await tab.page.get_by_role("button", name="Create the App on GitHub").click()
    await tab.page.get_by_role("button", name="Create GitHub App").click()
