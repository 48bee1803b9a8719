"""Pages follow changes of any process, as long as the viewer has permission."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from sse_starlette.sse import AppStatus

from bot.server.web import live
from bot.store.databases.database import StoreError
from bot.store.databases.postgres import PostgresDatabase
from bot.store.databases.sqlite import SqliteDatabase
from bot.store.pages.runs import Runs
from bot.store.runs.run_events import dump
from bot.store.tables import Store
from tests.servers.serving import serving
from tests.support.patience import patience
from tests.web.people import PEOPLE, Site, opened
from tests.web.stored import PARSER, SECRET, TRACE, Ran, ran, visits

PATIENCE = 30.0
"""Seconds, for a machine under load."""


@pytest.fixture
async def site(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Site]:
    monkeypatch.setattr(live.Live.__init__, "__defaults__", (0.05,))
    async with opened(store, tmp_path, monkeypatch) as site:
        yield site


@pytest.fixture
async def served(site: Site) -> AsyncIterator[str]:
    async with serving(site.app) as url:
        yield url


@pytest.fixture
async def elsewhere(request: pytest.FixtureRequest, database: Any, tmp_path: Path) -> AsyncIterator[Store]:
    """Yield the same database, opened by another process."""
    other: Any = SqliteDatabase(tmp_path / "store.db")
    if isinstance(database, PostgresDatabase):
        await other.aclose()
        other = PostgresDatabase(request.getfixturevalue("url"))
    yield Store(other)
    await other.aclose()


class Stream:
    """The events that a browser receives."""

    def __init__(self, lines: AsyncIterator[str]) -> None:
        self._lines = lines

    async def event(self) -> dict[str, str]:
        """Return the next event, without comments."""
        fields: dict[str, str] = {}
        async with asyncio.timeout(patience(PATIENCE)):
            async for line in self._lines:
                if not line and "data" in fields:
                    return fields
                name, _, value = line.partition(": ")
                fields[name] = f"{fields[name]}\n{value}" if name in fields else value
        raise StopAsyncIteration

    async def watching(self) -> None:
        """Wait until changes are published."""
        async with asyncio.timeout(patience(PATIENCE)):
            async for line in self._lines:
                if line == ": watching":
                    return
        raise AssertionError("the stream ended")

    async def ended(self) -> None:
        """Wait until the server ends it."""
        async with asyncio.timeout(patience(PATIENCE)):
            async for _ in self._lines:
                pass


@asynccontextmanager
async def heard(url: str, path: str, who: str = "operator", **headers: str) -> AsyncIterator[Stream]:
    async with (
        httpx.AsyncClient(timeout=patience(PATIENCE)) as http,
        http.stream("GET", url + path, headers={"X-Who": who, **headers}) as answer,
    ):
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/event-stream")
        yield Stream(aiter(answer.aiter_lines()))


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(patience(PATIENCE)):
        while not holds():
            await asyncio.sleep(0.01)


async def test_a_run_is_followed_from_another_process_to_its_end(site: Site, served: str, elsewhere: Store) -> None:
    ref = await ran(site.store, Ran(status="running", trace=TRACE[:2]))
    path = f"/runs/octo/parser/{ref.number}/1/live"
    async with heard(served, f"{path}?seen=0") as stream:
        now = await stream.event()
        assert now["event"] == "run"
        assert "Code search" not in now["data"].partition("</svg>")[2]
        await elsewhere.for_issue(ref).events(1).add(*map(dump, visits(TRACE[2:4])))
        then = await stream.event()
        assert "Lexer.scan is on the reporter" in then["data"]
        assert float(then["id"]) > float(now["id"])
        await elsewhere.for_issue(ref).runs.give_up(1)
        over = await stream.event()
        assert (over["event"], "failed" in over["data"]) == ("over", True)
        await stream.ended()
    async with heard(served, path, **{"Last-Event-ID": now["id"]}) as stream:
        assert (await stream.event())["event"] == "over"


async def test_a_row_is_sent_to_subscribed_viewers_with_access(site: Site, served: str) -> None:
    for path, who, expected in (
        ("/runs/live", "rita", ["Mine, first", "Mine, second"]),
        ("/runs/live?q=second", "operator", ["Theirs, second", "Mine, second"]),
        ("/runs/live?repository=octo/secret-plans", "operator", ["Theirs, second"]),
    ):
        for title, where in (("old", PARSER), ("old", SECRET)):
            await ran(site.store, Ran(title=title, repository=where, status="failed", trace=(), visits=()))
        async with heard(served, path, who) as stream:
            await stream.watching()
            await asyncio.sleep(0.2)
            for title, where in (("Mine, first", PARSER), ("Theirs, second", SECRET), ("Mine, second", PARSER)):
                await ran(site.store, Ran(title=title, repository=where, status="failed", trace=(), visits=()))
            events: list[str] = []  # a run that changed twice may be published twice
            while not events or expected[-1] not in events[-1]:
                events.append((await stream.event())["data"])
        assert all(row.startswith("<tr") for row in events)
        assert {title for row in events for title in expected if title in row} == set(expected), (path, who)
        ended = [row for row in events if "is running" not in row]  # its issue is not read yet, and it has no title
        assert all(any(title in row for title in expected) for row in ended), (path, who)
        assert who == "operator" or not any("secret-plans" in row for row in events)


async def test_missed_events_are_sent_after_a_reconnect(site: Site, served: str) -> None:
    await ran(site.store, Ran(title="seen", status="failed", trace=(), visits=()))
    (seen,) = (await site.store.pages.runs.changes()).values()
    await asyncio.sleep(0.01)
    for title in ("missed", "missed too"):
        await ran(site.store, Ran(title=title, status="failed", trace=(), visits=()))
    async with heard(served, "/runs/live?seen=0", **{"Last-Event-ID": repr(seen)}) as stream:
        events = [(await stream.event())["data"] for _ in range(2)]
    assert ["missed</bdi>" in events[0], "missed too</bdi>" in events[1]] == [True, True]


async def test_many_viewers_cost_one_query_of_the_store(
    site: Site, served: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ref = await ran(site.store, Ran(status="running", trace=TRACE[:2]))
    looks, reads = itertools.count(), itertools.count()
    changes, full = Runs.changes, Runs.full

    async def counted(self: Runs) -> Any:
        next(looks)
        return await changes(self)

    async def read(self: Runs, *key: Any) -> Any:
        next(reads)
        return await full(self, *key)

    path = f"/runs/octo/parser/{ref.number}/1/live"
    async with (
        heard(served, path) as one,
        heard(served, path) as two,
        heard(served, path) as three,
        heard(served, "/runs/live") as four,
    ):
        for stream in (one, two, three, four):
            await stream.watching()
        await asyncio.sleep(0.2)
        monkeypatch.setattr(Runs, "changes", counted)
        monkeypatch.setattr(Runs, "full", read)
        began = time.monotonic()
        await site.store.for_issue(ref).events(1).add(*map(dump, visits(TRACE[2:4])))
        for stream in (one, two, three, four):
            assert (await stream.event())["event"] in ("run", "row")
        assert next(looks) <= 2 + (time.monotonic() - began) / 0.05
        assert next(reads) == 1


async def test_a_stream_ends_with_the_viewers_access(site: Site, served: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "RECHECK", 0.1)
    ref = await ran(site.store, Ran(status="running", trace=TRACE[:2]))
    path = f"/runs/octo/parser/{ref.number}/1/live"
    async with heard(served, path, "rita") as mine, heard(served, "/runs/live", "operator") as all_runs:
        await mine.watching()
        await all_runs.watching()
        monkeypatch.setitem(PEOPLE, "rita", PEOPLE["nobody"])
        await asyncio.sleep(0.5)
        await site.store.for_issue(ref).events(1).add(*map(dump, visits(TRACE[2:4])))
        assert (await all_runs.event())["event"] == "row"
        monkeypatch.delitem(PEOPLE, "rita")
        await mine.ended()


async def test_a_stream_requires_a_login_and_valid_parameters(site: Site) -> None:
    program = {"Accept": "text/event-stream"}
    assert (await site.http.get("/runs/live", headers=program)).status_code == 401
    odd = await site.http.get("/runs/live?seen=x", headers={"X-Who": "rita", **program})
    assert odd.status_code == 400


async def test_a_temporary_outage_of_the_store_ends_no_stream(
    site: Site, served: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes, failures = Runs.changes, itertools.count()

    async def failing(self: Runs) -> Any:
        if next(failures) < 2:
            raise StoreError("away")
        return await changes(self)

    monkeypatch.setattr(Runs, "changes", failing)
    async with heard(served, "/runs/live") as stream:
        await stream.watching()
        await until(lambda: next(failures) > 3)
        await ran(site.store, Ran(title="after all", status="failed", trace=(), visits=()))
        while "after all" not in (data := (await stream.event())["data"]):
            pass  # the run was announced before its issue was read
        assert "after all" in data


def test_the_number_of_watchers_is_limited(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    watched = live.Live(site.store.pages.runs)
    monkeypatch.setattr(live, "MAX_WATCHERS", 1)
    with watched.watching(), pytest.raises(live.TooManyWatchersError), watched.watching():
        pass
    with watched.watching():
        pass


def test_streams_end_when_the_server_stops() -> None:
    import uvicorn

    assert uvicorn.Server.handle_exit is AppStatus.handle_exit
