"""The documentation's site works from disk: its search finds a page, and nothing is loaded from elsewhere."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.browser.chromium import Tab

pytestmark = pytest.mark.asyncio(loop_scope="session")

SITE = Path(__file__).parents[2] / ".tracehound" / "site"


async def test_the_search_works_from_disk(tab: Tab) -> None:
    if not (SITE / "search" / "search_index.js").exists():
        if os.environ.get("CI"):
            pytest.fail("the site is missing: run make site")
        pytest.skip("the site is missing: run make site")
    await tab.open((SITE / "index.html").as_uri())
    await tab.page.locator("[data-md-component=search-query]").fill("/triage redirect")
    found = tab.page.locator(".md-search-result__link[href*='commands.html']")
    await found.first.wait_for()
    await found.first.click()
    await tab.page.wait_for_url(re.compile(r"commands\.html"))
    assert await tab.page.locator("h2", has_text="/triage redirect").is_visible()
    # They record why, are half of all words, and are no answer to a question about use.
    assert "decisions.html" not in (SITE / "search" / "search_index.js").read_text(encoding="utf-8")
