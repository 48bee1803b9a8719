"""Open pages follow changes of any process, as far as the viewer may see them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.store.runs.run_events import dump
from bot.store.tables import Store
from tests.web.people import Site, opened
from tests.web.stored import SECRET, TRACE, Ran, ran, visits


@pytest.fixture
async def site(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Site]:
    async with opened(store, tmp_path, monkeypatch) as site:
        yield site


async def test_a_run_is_followed_to_its_end(site: Site) -> None:
    ref = await ran(site.store, Ran(status="running", trace=TRACE[:2]))
    path = f"/runs/octo/parser/{ref.number}/1/progress"
    first = await site.get(path, "operator")
    assert (first.status_code, "Lexer.scan is on the reporter" in first.text) == (200, False)
    again = f"{path}?seen={first.headers['x-seen']}"
    assert (await site.get(again, "operator")).status_code == 204
    await site.store.for_issue(ref).events(1).add(*map(dump, visits(TRACE[2:4])))
    then = await site.get(again, "operator")
    assert "Lexer.scan is on the reporter" in then.text
    assert (
        "Lexer.scan is on the reporter" not in (await site.get(again, "rita")).text
    )  # it may become a security report
    assert float(then.headers["x-seen"]) > float(first.headers["x-seen"])
    await site.store.for_issue(ref).runs.give_up(1)
    assert (await site.get(again, "operator")).status_code == 205


async def test_a_list_follows_the_runs_that_its_viewer_may_see(site: Site) -> None:
    await ran(site.store, Ran(title="Mine, first"))
    first = await site.get("/runs/rows?q=mine", "rita")
    again = f"/runs/rows?q=mine&seen={first.headers['x-seen']}"
    await ran(site.store, Ran(title="Mine too, but theirs", repository=SECRET))
    assert (await site.get(again, "rita")).status_code == 204
    await ran(site.store, Ran(title="Mine, second"))
    await ran(site.store, Ran(title="Another"))
    then = await site.get(again, "rita")
    assert [title in then.text for title in ("Mine, first", "Mine, second", "theirs", "Another")] == [
        True,
        True,
        False,
        False,
    ]
    assert "theirs" in (await site.get(again, "operator")).text


async def test_a_program_without_a_login_is_refused(site: Site) -> None:
    assert (await site.http.get("/runs/rows", headers={"Accept": "*/*"})).status_code == 401
