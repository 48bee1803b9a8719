"""The order of jobs if one installation has 120 issues and another has one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.jobs import Job, Triage
from bot.ports import IssueRef
from bot.store.databases.postgres import PostgresStore
from bot.store.databases.sqlite import SqliteStore
from bot.store.jobs.deliveries import Arrival
from bot.store.tables import Store
from bot.worker.dispatch import procrastinate
from bot.worker.dispatch.attempts import Dispatcher
from bot.worker.dispatch.procrastinate import SharedDispatcher

LOUD, QUIET, MANY, SLOTS = 7, 8, 120, 4


@pytest.fixture(params=["embedded", "procrastinate"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    shared = request.param == "procrastinate"
    store = PostgresStore(request.getfixturevalue("url")) if shared else SqliteStore(tmp_path / "store.db")
    yield store
    await store.aclose()


async def arrive(store: Store, installation: int, *numbers: int) -> None:
    for number in numbers:
        ref = IssueRef("github.com", installation, installation * 10, "octo", "parser", number)
        work = Triage(ref=ref, why="opened")
        await store.inbox.accept(Arrival(work.key, "issues", b"{}", (work,)))


async def test_the_queue_of_another_installation_does_not_delay_an_issue(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(procrastinate, "POLL", 0.1)
    begun: list[int] = []
    arrived = 0

    async def worker(job: Job) -> None:
        nonlocal arrived
        begun.append(job.work.ref.installation_id)
        if len(begun) == 2 * SLOTS:
            await arrive(store, QUIET, 1)
            arrived = len(begun)
            dispatcher.wake()
        await asyncio.sleep(0.01)
        await store.jobs.settle(job)

    dispatcher: Dispatcher | SharedDispatcher
    if isinstance(store, PostgresStore):
        dispatcher = SharedDispatcher(store, worker, concurrency=SLOTS, place="here", drain=1.0)
    else:
        dispatcher = Dispatcher(store.jobs, worker, concurrency=SLOTS)
    await arrive(store, LOUD, *range(1, MANY + 1))
    running = asyncio.create_task(dispatcher.run())
    async with asyncio.timeout(100):
        while len(begun) <= MANY:
            await asyncio.sleep(0.02)
    await dispatcher.drain(5.0)
    await running
    assert begun.index(QUIET) - arrived <= SLOTS
    assert begun.count(LOUD) == MANY
