"""Redraw docs/screenshots: ``make screenshots``. Each scene serves its pages, opens them and returns the shots."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import cmarkgfm
from demo.make_repository import make
from playwright.async_api import Browser

from bot.server.app import build_app
from bot.server.first_start import defaults_of
from bot.server.web.pages.setup import SetupPages, setup_app
from bot.settings.environment import Settings
from bot.settings.server import ServerSettings
from bot.store.databases.sqlite import SqliteStore
from tests.browser.chromium import MISSING, found_chromium, opened_tab, started
from tests.servers.serving import NobodyWorks, serving
from tests.web.busy import NOW, busy

FOLDER, DEMO = Path(__file__).parent / "screenshots", Path(__file__).parent / "demo"
TOKEN = "an-operators-own-token"
PUBLIC = "https://triage.example.org"


@dataclass(frozen=True)
class Shot:
    """One picture."""

    name: str
    address: str
    dark: bool = False
    phone: bool = False
    height: int = 620
    operator: bool = False
    """Whether the operator is logged in, with ``TOKEN``."""


Scene = Callable[[Path], AbstractAsyncContextManager[list[Shot]]]
"""Serves pages from an empty folder during a block."""


@asynccontextmanager
async def first_start(folder: Path) -> AsyncIterator[list[Shot]]:
    """Serve a server without an App."""
    settings = Settings(triage_public_url=PUBLIC, triage_data_dir=folder)
    defaults = replace(defaults_of(settings), name="tracehound-octo")
    setup = SetupPages(settings, defaults)
    async with serving(setup_app(setup)) as url:
        yield [
            Shot("landing", url, height=460),
            Shot("setup", f"{url}/setup?token={setup.pending.token}", height=460),
        ]


@asynccontextmanager
async def after_it(folder: Path) -> AsyncIterator[list[Shot]]:
    """Serve a server to a person who is not logged in."""
    settings = Settings(
        triage_data_dir=folder,
        triage_public_url=PUBLIC,
        triage_admin_token=TOKEN,  # type: ignore[arg-type]
        github_client_id="Iv1.x",
        github_client_secret="x",  # type: ignore[arg-type]
    )
    store = SqliteStore(folder / "store.db")
    async with serving(build_app(ServerSettings(settings, 1, "", (b"secret",)), store, NobodyWorks())) as url:
        yield [
            Shot("login", f"{url}/login", height=440),
            Shot("login-dark-phone", f"{url}/login", dark=True, phone=True, height=440),
        ]
    await store.aclose()


@asynccontextmanager
async def at_work(folder: Path) -> AsyncIterator[list[Shot]]:
    """Serve a server with some months of data."""
    settings = Settings(triage_data_dir=folder, triage_admin_token=TOKEN)  # type: ignore[arg-type]
    store = SqliteStore(folder / "store.db")
    there = (await busy(store)).paths
    async with serving(build_app(ServerSettings(settings, 1, "", (b"secret",)), store, NobodyWorks())) as url:
        yield [
            Shot("home", url + there["home"], height=900, operator=True),
            Shot("runs", url + there["runs"], height=900, operator=True),
            Shot("runs-dark-phone", url + there["runs"], dark=True, phone=True, height=800, operator=True),
            Shot("run", url + there["run"], height=1_100, operator=True),
            Shot("run-dark", url + there["run"], dark=True, height=900, operator=True),
            Shot("running", url + there["running"], height=760, operator=True),
            Shot("repository", url + there["repository"], height=1_000, operator=True),
        ]
    await store.aclose()


COMMENT = """<!doctype html><meta charset="utf-8"><style>
body {{ margin: 16px; font: 14px/1.5 "Liberation Sans", "DejaVu Sans", sans-serif; color: #1f2328 }}
article {{ border: 1px solid #d1d9e0; border-radius: 6px; max-width: 1060px }}
header {{ background: #f6f8fa; border-bottom: 1px solid #d1d9e0; border-radius: 6px 6px 0 0; padding: 8px 16px }}
header i {{ border: 1px solid #d1d9e0; border-radius: 2em; font-style: normal; padding: 0 7px }}
section {{ padding: 4px 16px 12px }} summary {{ cursor: pointer; margin: 8px 0 }} sub {{ color: #59636e }}
code {{ background: #818b981f; border-radius: 6px; padding: .2em .4em; font: 85% "DejaVu Sans Mono", monospace }}
</style><article><header><b>tracehound</b> <i>bot</i> commented now</header><section>{}</section></article>"""


@asynccontextmanager
async def a_comment(folder: Path) -> AsyncIterator[list[Shot]]:
    """Lay out the comment on the demo's issue as GitHub does."""
    make(folder / "demo")
    words = ["run", "--repo", str(folder / "demo"), str(DEMO / "issue.md"), "--brain", "rules"]
    done = subprocess.run(  # noqa: ASYNC221  nothing else runs
        [sys.executable, "-m", "bot", *words], capture_output=True, text=True, check=True
    )
    page = folder / "comment.html"
    html = cmarkgfm.github_flavored_markdown_to_html(done.stdout, cmarkgfm.cmark.Options.CMARK_OPT_UNSAFE)
    page.write_text(COMMENT.format(html), encoding="utf-8")
    yield [Shot("comment", page.as_uri(), height=310)]


SCENES: list[Scene] = [a_comment, first_start, after_it, at_work]


async def draw(browser: Browser, shot: Shot) -> None:
    """Take one picture."""
    shown = {"extra_http_headers": {"Authorization": f"Bearer {TOKEN}"}} if shot.operator else {}
    async with opened_tab(
        browser, dark=shot.dark, phone=shot.phone, height=shot.height, timezone_id="UTC", **shown
    ) as tab:
        # Two days after the stored data, so that "… ago" is the same each time.
        await tab.page.clock.set_fixed_time(NOW + 2 * 86_400)
        await tab.open(shot.address)
        if await tab.page.locator("#live-line").count():
            await tab.page.get_by_text("Updates live").wait_for()
        FOLDER.mkdir(exist_ok=True)
        await tab.page.screenshot(path=FOLDER / f"{shot.name}.png", animations="disabled", caret="hide")


async def main() -> None:
    """Draw all of them, or the scenes that the arguments name."""
    path = found_chromium()
    if path is None:
        sys.exit(MISSING)
    async with started(path) as browser:
        for scene in [item for item in SCENES if item.__name__ in sys.argv[1:]] or SCENES:
            with tempfile.TemporaryDirectory() as folder:
                async with scene(Path(folder)) as shots:
                    for shot in shots:
                        await draw(browser, shot)


if __name__ == "__main__":
    asyncio.run(main())
