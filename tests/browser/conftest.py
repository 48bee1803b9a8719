"""One Chromium for all tests here, in one event loop: ``pytestmark = pytest.mark.asyncio(loop_scope="session")``."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser

from tests.browser.chromium import MISSING, Tab, found_chromium, opened_tab, started


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    path = found_chromium()
    if path is None:
        if os.environ.get("CI"):
            pytest.fail(MISSING)
        pytest.skip(MISSING)
    async with started(path) as browser:
        yield browser


@pytest_asyncio.fixture(loop_scope="session")
async def tab(browser: Browser) -> AsyncIterator[Tab]:
    """Yield a tab without cookies; the test fails if a page requests another server or a script logs an error.

    Name it last among a test's fixtures, so that it is closed before its servers.
    """
    async with opened_tab(browser) as tab:
        yield tab
