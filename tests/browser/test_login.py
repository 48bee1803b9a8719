"""The login in a browser: by keyboard, in both colour schemes, on a phone."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser

from bot.server.app import build_app
from bot.settings.environment import Settings
from bot.settings.server import ServerSettings
from bot.store.databases.sqlite import SqliteStore
from tests.browser.chromium import Tab, assert_accessible, assert_sound, opened_tab
from tests.servers.serving import NobodyWorks, serving

pytestmark = pytest.mark.asyncio(loop_scope="session")

TOKEN = "an-operators-own-token"


@pytest_asyncio.fixture(loop_scope="session")
async def url(tmp_path: Path) -> AsyncIterator[str]:
    settings = Settings(triage_admin_token=TOKEN, triage_data_dir=tmp_path)
    store = SqliteStore(tmp_path / "store.db")
    async with serving(build_app(ServerSettings(settings, 1, "", (b"secret",)), store, NobodyWorks())) as url:
        yield url
    await store.aclose()


@pytest.mark.parametrize(("dark", "phone"), [(False, False), (True, False), (False, True), (True, True)])
async def test_the_form_is_accessible(browser: Browser, url: str, *, dark: bool, phone: bool) -> None:
    async with opened_tab(browser, dark=dark, phone=phone) as tab:
        await assert_sound(tab, f"{url}/login")


async def test_a_login_by_keyboard_leads_to_the_requested_page(url: str, tab: Tab) -> None:
    await tab.open(f"{url}/runs?q=b")
    await tab.page.get_by_label("Operator's token").fill("wrong")
    await tab.page.keyboard.press("Enter")
    await tab.page.get_by_role("alert").wait_for()
    await assert_accessible(tab)
    tab.excuse("403")
    await tab.page.get_by_label("Operator's token").fill(TOKEN)
    await tab.page.keyboard.press("Enter")
    await tab.page.wait_for_url(f"{url}/runs?q=b")
    await assert_accessible(tab)
    await tab.page.keyboard.press("Tab")
    assert await tab.page.evaluate("document.activeElement.textContent") == "Skip to the content"
    await tab.page.get_by_role("button", name="Log out").click()
    await tab.page.get_by_role("heading", name="Log in").wait_for()


async def test_the_check_finds_requests_to_other_hosts_and_failures(url: str, tab: Tab) -> None:
    await tab.page.evaluate("fetch('http://127.0.0.1:9/elsewhere').catch(() => {})")
    tab.excuse("asked for http://127.0.0.1:9/elsewhere")
    tab.excuse("console: Failed to load")
    await tab.open(f"{url}/login")
    await tab.page.evaluate("fetch('http://127.0.0.1:9/').catch(() => {})")
    tab.excuse("Content Security Policy")
    await tab.page.evaluate("document.body.innerHTML = '<img src=/mark.png><button></button>'")
    with pytest.raises(AssertionError, match="image-alt"):
        await assert_accessible(tab)
    tab.faults.clear()
