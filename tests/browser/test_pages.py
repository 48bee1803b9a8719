"""Runs, a run, repositories and jobs in a browser: accessible, live and usable by keyboard."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, expect

from bot.server.app import build_app
from bot.settings.environment import Settings
from bot.settings.server import ServerSettings
from bot.store.databases.sqlite import SqliteStore
from bot.store.runs.run_events import dump
from tests.browser.chromium import assert_accessible, assert_sound, opened_tab
from tests.servers.serving import NobodyWorks, serving
from tests.web.busy import Busy, busy
from tests.web.stored import PARSER, TRACE, Ran, ran, visits

pytestmark = pytest.mark.asyncio(loop_scope="session")

TOKEN = "an-operators-own-token"
OPERATOR: dict[str, Any] = {"extra_http_headers": {"Authorization": f"Bearer {TOKEN}"}}
_ALL_KINDS = ("home", "runs", "run", "running", "repository")
"""Pages that together contain every element of a page."""
expect.set_options(timeout=60_000)


@dataclass(frozen=True)
class Served:
    """A busy server."""

    url: str
    store: SqliteStore
    busy: Busy


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def served(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Served]:
    folder = tmp_path_factory.mktemp("busy")
    settings = Settings(triage_admin_token=TOKEN, triage_data_dir=folder)
    store = SqliteStore(folder / "store.db")
    there = await busy(store)
    app = build_app(ServerSettings(settings, 1, "", (b"secret",)), store, NobodyWorks())
    async with serving(app) as url:
        yield Served(url, store, there)
    await store.aclose()


@pytest.mark.parametrize(("dark", "phone"), [(False, False), (True, False), (False, True)])
async def test_every_page_is_accessible(browser: Browser, served: Served, *, dark: bool, phone: bool) -> None:
    async with opened_tab(browser, dark=dark, phone=phone, **OPERATOR) as tab:
        for name, path in served.busy.paths.items():
            if (dark or phone) and name not in _ALL_KINDS:
                continue
            await assert_sound(tab, served.url + path)
            if name == "not found":
                tab.excuse("404")


async def test_a_list_is_filtered_by_keyboard_and_leads_to_a_run(browser: Browser, served: Served) -> None:
    async with opened_tab(browser, **OPERATOR) as tab:
        page = tab.page
        await tab.open(f"{served.url}/runs")
        await page.keyboard.press("Tab")
        await page.keyboard.press("Enter")
        await page.keyboard.press("Tab")
        assert await page.evaluate("document.activeElement.name") == "q"
        await page.keyboard.type("open quote")
        await page.keyboard.press("Enter")
        await page.wait_for_url("**/runs?q=open+quote**")
        await expect(page.locator("tbody tr")).to_have_count(1)
        await page.get_by_text("More conditions").press("Enter")
        await page.get_by_label("Status").select_option("failed")
        await page.get_by_role("button", name="Filter").last.press("Enter")
        await page.get_by_role("heading", name="No matching run").wait_for()
        await page.get_by_role("link", name="Status: failed").press("Enter")
        await page.wait_for_url("**/runs?q=open+quote")
        await page.get_by_label("Title").fill("open quote of")
        await page.get_by_role("button", name="Filter").first.press("Enter")
        await page.get_by_role("heading", name="No matching run").wait_for()
        await page.get_by_role("link", name="Title: open quote of").press("Enter")
        await page.wait_for_url("**/runs?")
        await expect(page.locator("tbody tr")).to_have_count(25)
        await page.get_by_role("link", name="Older").press("Enter")
        await page.wait_for_url("**/runs?before=**")
        await page.go_back()
        await page.get_by_role("link", name="scan hangs on an open quote").press("Enter")
        await page.get_by_role("heading", name="scan hangs on an open quote").wait_for()
        await expect(page.get_by_label("The path through the graph")).to_be_hidden()
        await page.locator("summary", has_text="How it was found").press("Enter")
        await page.get_by_label("The path through the graph").wait_for()
        await page.locator("summary", has_text="pieces that the report does not cite").press("Enter")
        await expect(page.locator("article.piece")).to_have_count(8)


_FITS = "document.querySelector('{}').getBoundingClientRect().bottom <= innerHeight"


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
async def test_the_answer_of_a_run_is_visible_without_scrolling(
    browser: Browser, served: Served, *, width: int, dark: bool
) -> None:
    async with opened_tab(browser, dark=dark, **OPERATOR) as tab:
        await tab.page.set_viewport_size({"width": width, "height": 800})
        await tab.open(served.url + served.busy.paths["run"])
        await expect(tab.page.get_by_text("The fix is probably in")).to_be_visible()
        assert await tab.page.evaluate(_FITS.format("#answer"))
        if width == 1280:
            assert await tab.page.evaluate(_FITS.format(".judge"))
            box = await tab.page.locator("#issue").bounding_box()
            answer = await tab.page.locator("#answer").bounding_box()
            assert box
            assert answer
            assert box["x"] >= answer["x"] + answer["width"]  # the issue is next to the answer
        await tab.page.get_by_text("Wrong, because").press("Enter")
        for fold in await tab.page.locator(".fold > summary").all():
            await fold.press("Enter")
        await assert_accessible(tab)


async def test_a_person_corrects_a_run_by_keyboard(browser: Browser, served: Served) -> None:
    ref = await ran(served.store, Ran(title="To be corrected", number=950))
    async with opened_tab(browser) as tab:
        page = tab.page
        await tab.open(f"{served.url}/login?next=/runs/octo/parser/950/1")
        await page.get_by_label("Operator's token").fill(TOKEN)
        await page.keyboard.press("Enter")
        await page.get_by_text("Wrong, because").press("Enter")
        await page.get_by_label("What is wrong, and where is the fault?").fill("it is the reader")
        await page.get_by_role("button", name="Send and run again").press("Enter")
        await expect(page.get_by_role("status")).to_contain_text("Your request is stored")
        await assert_accessible(tab)
    job = await served.store.jobs.claim("control", "me")
    assert job is not None
    assert (job.work.key, job.work.argument) == (ref.key, "it is the reader")
    await served.store.jobs.settle(job, "done")


@pytest.mark.parametrize("width", [390, 1280])
async def test_the_first_row_of_the_list_is_visible_without_scrolling(
    browser: Browser, served: Served, *, width: int
) -> None:
    async with opened_tab(browser, **OPERATOR) as tab:
        await tab.page.set_viewport_size({"width": width, "height": 800})
        await tab.open(f"{served.url}/runs?status=finished&outcome=right")
        assert await tab.page.evaluate(_FITS.format("tbody tr"))
        await tab.page.get_by_text("More conditions").press("Enter")
        await assert_accessible(tab)


@pytest.mark.parametrize("width", [390, 1280])
async def test_a_count_links_to_its_cases_and_times_are_relative_and_in_the_viewers_zone(
    browser: Browser, served: Served, *, width: int
) -> None:
    async with opened_tab(browser, dark=width == 390, timezone_id="Asia/Kolkata", **OPERATOR) as tab:
        page = tab.page
        await page.set_viewport_size({"width": width, "height": 800})
        await tab.open(served.url + served.busy.paths["repository"])
        await assert_accessible(tab)
        month = page.get_by_role("row", name="2026-05").first
        await expect(month.get_by_role("meter")).to_have_attribute("value", "0.625")
        await tab.open(f"{served.url}/runs")
        first = page.locator("a[href*='outcome=right']").first
        cases = int((await first.text_content() or "").split()[-1])
        await first.press("Enter")
        await page.wait_for_url(re.compile("/runs.*outcome=right"))
        await expect(page.locator("tbody tr")).to_have_count(min(cases, 25))
        time = page.locator("tbody time").first
        await expect(time).to_have_attribute("title", re.compile("UTC; shown in Asia/(Kolkata|Calcutta)"))
        title, utc = await time.get_attribute("title"), await time.get_attribute("datetime")
        local = datetime.fromisoformat(utc or "") + timedelta(hours=5, minutes=30)
        assert (title or "").startswith(local.strftime("%Y-%m-%d %H:%M"))
        assert await time.text_content() == local.strftime("%Y-%m-%d")  # longer ago than a month
        await page.clock.set_fixed_time(datetime.fromisoformat(utc or "") + timedelta(hours=3, minutes=10))
        await page.reload()
        await expect(page.locator(f"time[datetime='{utc}']").first).to_have_text("3 hours ago")
        chosen = page.locator(".counts a[aria-current]")
        await expect(chosen).to_have_text(re.compile("right"))
        await chosen.press("Enter")  # a second choice removes the condition
        await page.wait_for_url("**/runs?")
        await assert_accessible(tab)


async def test_a_run_and_its_row_are_updated_live_and_retain_the_focus(browser: Browser, served: Served) -> None:
    ref = await ran(served.store, Ran(title="Followed", number=900, status="running", trace=TRACE[:2]))
    mine = served.store.for_issue(ref)
    async with opened_tab(browser, **OPERATOR) as tab, opened_tab(browser, **OPERATOR) as other:
        await tab.open(f"{served.url}/runs/octo/parser/900/1")
        await other.open(f"{served.url}/runs")
        steps = tab.page.locator(".steps > li")
        await expect(steps).to_have_count(2)
        for watching in (tab, other):
            await watching.page.get_by_text("Updates live").wait_for()
        row = other.page.get_by_role("link", name="Followed")
        await row.focus()
        await mine.events(1).add(*map(dump, visits(TRACE[2:4])))
        await expect(steps).to_have_count(4)
        await expect(tab.page.locator("#said")).to_have_text("The run is running, after 4 steps")
        await assert_accessible(tab)
        await ran(served.store, Ran(title="Opened meanwhile", number=901, status="running", trace=()))
        await expect(other.page.locator("tbody tr").first).to_contain_text("Opened meanwhile")
        await mine.runs.give_up(1)
        await expect(other.page.locator(f"[id='issue-{PARSER.key}#900']")).to_contain_text("run 2")
        await expect(row).to_be_focused()
        await tab.page.get_by_text("A later run replaced it").wait_for()  # it reloads itself when the run is over


async def test_a_dead_job_is_replayed(browser: Browser, served: Served) -> None:
    async with opened_tab(browser, **OPERATOR) as tab:
        await tab.open(served.url + "/")
        replay = tab.page.get_by_role("button", name="Replay job")
        await expect(replay).to_have_count(1)
        await tab.page.context.set_extra_http_headers({})  # a form that a person submits carries only the cookie
        await tab.open(f"{served.url}/login?next=/")
        await tab.page.get_by_label("Operator's token").fill(TOKEN)
        await tab.page.keyboard.press("Enter")
        await tab.page.wait_for_url(served.url + "/")
        await replay.press("Enter")
        await expect(tab.page.get_by_role("status")).to_contain_text(
            "is queued again; its attempts are counted from zero"
        )
        await expect(replay).to_have_count(0)
        await assert_accessible(tab)


async def test_without_scripts_the_pages_show_all_content(browser: Browser, served: Served) -> None:
    async with opened_tab(browser, java_script_enabled=False, **OPERATOR) as tab:
        await tab.open(served.url + served.busy.paths["running"])
        await expect(tab.page.locator(".steps > li")).to_have_count(5)
        await tab.page.get_by_role("link", name="Reload").click()
        await expect(tab.page.get_by_role("heading", level=1)).to_contain_text("drops the last line")
        await expect(tab.page.locator("time").first).to_contain_text("UTC")
