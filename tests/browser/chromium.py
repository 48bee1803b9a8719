"""A real Chromium that may only request the servers under test and records a page's faults."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.async_api import Browser, ConsoleMessage, Page, Request, Response, Route, async_playwright

AXE = Path(__file__).parents[2] / ".tools" / "axe" / "axe.min.js"
MISSING = "Chromium or axe-core is missing: run .ci/chromium"
HEAVIEST = 150_000
"""Maximum bytes of a page including everything that it loads."""
_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""The first has no windows, and takes half of the processor time of the others, which hide theirs."""
_FLAGS = (
    "--headless",
    "--no-sandbox",  # the sandbox is not available to root
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
_FAULTS_OF_AXE = """() => axe.run(document, {resultTypes: ["violations"]}).then(found => found.violations
    .filter(fault => ["serious", "critical"].includes(fault.impact))
    .map(fault => `${fault.id}: ${fault.help}: ${fault.nodes.map(node => node.html.slice(0, 200)).join(" | ")}`))"""


def found_chromium() -> str | None:
    """Return the path of Chromium; None if it or axe-core is not installed."""
    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, _NAMES)), None)
    return path if AXE.exists() else None


@asynccontextmanager
async def started(path: str) -> AsyncIterator[Browser]:
    """Run a browser."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, args=_FLAGS)
        try:
            yield browser
        finally:
            await browser.close()


@dataclass
class Tab:
    """One tab of one person; ``faults`` collects everything that a page must not do."""

    page: Page
    origins: set[str] = field(default_factory=set)
    """Servers that may be requested; any other request is a fault."""
    faults: list[str] = field(default_factory=list)
    _loaded: list[Response] = field(default_factory=list)

    async def open(self, address: str) -> None:
        """Open a page of a server under test, which may be requested from now on."""
        self.origins.add(_origin(address))
        self._loaded.clear()
        await self.page.goto(address)

    async def weight(self) -> int:
        """Return the uncompressed bytes loaded since ``open``; redirects and streams count as zero."""
        kinds = ("text/html", "text/css", "text/javascript", "image/", "font/", "application/json")
        bodies = [r for r in self._loaded if r.ok and r.headers.get("content-type", "").startswith(kinds)]
        return sum([len(await response.body()) for response in bodies])

    def excuse(self, part: str) -> None:
        """Remove expected faults; at least one must exist."""
        kept = [fault for fault in self.faults if part not in fault]
        assert len(kept) < len(self.faults), self.faults
        self.faults[:] = kept

    def _allows(self, address: str) -> bool:
        return address.startswith("data:") or _origin(address) in self.origins

    async def _route(self, route: Route) -> None:
        await (route.continue_() if self._allows(route.request.url) else route.abort())

    def _asked(self, request: Request) -> None:
        """Record a request; the event also covers redirects, which are not routed."""
        if not self._allows(request.url):
            self.faults.append(f"asked for {request.url}")

    def _said(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.faults.append(f"console: {message.text} ({self.page.url})")


@asynccontextmanager
async def opened_tab(
    browser: Browser, *, dark: bool = False, phone: bool = False, height: int = 800, **context: Any
) -> AsyncIterator[Tab]:
    """Yield a tab of a browser without cookies; at its end no page may have a fault."""
    size = {"width": 390 if phone else 1100, "height": height}
    scheme: Any = "dark" if dark else "light"
    where = await browser.new_context(color_scheme=scheme, viewport=size, reduced_motion="reduce", **context)  # type: ignore[arg-type]
    try:
        page = await where.new_page()
        page.set_default_timeout(60_000)  # for machines under load
        tab = Tab(page)
        await page.route("**/*", tab._route)
        page.on("request", tab._asked)
        page.on("console", tab._said)
        page.on("pageerror", lambda error: tab.faults.append(f"script: {error}"))
        page.on("response", lambda response: tab._loaded.append(response))  # noqa: PLW0108  playwright marks it
        yield tab
        assert tab.faults == [], tab.faults
    finally:
        await where.close()


async def assert_accessible(tab: Tab) -> None:
    """Check the page with axe-core: no serious or critical fault, and nothing wider than the screen."""
    await tab.page.evaluate(AXE.read_text(encoding="utf-8"))
    found = await tab.page.evaluate(_FAULTS_OF_AXE)
    assert found == [], found
    over = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert await tab.page.evaluate(over) <= 0, f"{tab.page.url} scrolls sideways"


async def assert_sound(tab: Tab, address: str) -> None:
    """Open a page and check it with axe-core and against the maximum weight."""
    await tab.open(address)
    await assert_accessible(tab)
    weight = await tab.weight()
    assert weight <= HEAVIEST, f"{address} weighs {weight} bytes"


def _origin(address: str) -> str:
    split = urlsplit(address)
    return f"{split.scheme}://{split.netloc}"
