"""Dispatchers on one Postgres run each job once and in order, and take over interrupted jobs."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from bot.errors import RetryableError
from bot.jobs import Continue, Edited, Ended, Job, Triage, Work
from bot.ports import IssueRef
from bot.store import workers as wakeups
from bot.store.databases.postgres import PostgresStore, connect
from bot.store.jobs.deliveries import Arrival
from bot.worker.dispatch import attempts, procrastinate
from bot.worker.dispatch.procrastinate import SharedDispatcher
from tests.serve.app import ask
from tests.support.patience import patience

Worker = Callable[[Job], Awaitable[None]]
ATTEMPTS = "SELECT attempt FROM jobs"


@pytest.fixture
async def store(url: str) -> AsyncIterator[PostgresStore]:
    store = PostgresStore(url)
    yield store
    await store.aclose()


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempts, "FIRST_WAIT", 0.01)
    monkeypatch.setattr(procrastinate, "SWEEP", 0.2)
    monkeypatch.setattr(procrastinate, "POLL", 0.2)
    monkeypatch.setattr(wakeups, "LATE", 0.3)


def ref(number: int) -> IssueRef:
    return IssueRef("github.com", 7, 9, "octo", "parser", number)


def triage(number: int) -> Triage:
    return Triage(ref=ref(number), why="opened")


async def arrive(store: PostgresStore, *work: Work) -> None:
    for number, one in enumerate(work):
        await store.inbox.accept(Arrival(f"{one.key}-{one.kind}-{number}", "issues", b"{}", (one,)))


@asynccontextmanager
async def dispatching(
    store: PostgresStore, worker: Worker, *, many: int = 1, concurrency: int = 2
) -> AsyncIterator[None]:
    async with AsyncExitStack() as stack:
        for place in range(many):
            dispatcher = SharedDispatcher(store, worker, concurrency=concurrency, place=f"here:{place}", drain=0.3)
            running = asyncio.create_task(dispatcher.run())
            stack.push_async_callback(_ended, dispatcher, running)
        yield


async def _ended(dispatcher: SharedDispatcher, running: asyncio.Task[None]) -> None:
    await dispatcher.drain(patience(0.1))
    await running


async def settled(store: PostgresStore) -> None:
    async with asyncio.timeout(patience(60)):
        while set(await store.jobs.counts()) - {"dead", "parked"}:
            await asyncio.sleep(0.02)


async def test_many_workers_run_each_job_once_and_an_issue_s_in_order(store: PostgresStore) -> None:
    busy: Counter[str] = Counter()
    order, most = [], 0
    beside = asyncio.Event()

    async def worker(job: Job) -> None:
        nonlocal most
        busy[job.work.key] += 1
        assert busy[job.work.key] == 1
        most = max(most, busy.total())
        if most > 2:
            beside.set()  # more than one dispatcher runs at once
        await beside.wait()
        await asyncio.sleep(0.05)
        order.append((job.work.key, job.work.kind))
        busy[job.work.key] -= 1
        await store.jobs.settle(job)

    await arrive(store, *(work for n in range(8) for work in (triage(n), Continue(ref=ref(n)))))
    async with dispatching(store, worker, many=2):
        await settled(store)
    assert sorted(order) == sorted((ref(n).key, kind) for n in range(8) for kind in ("triage", "continue"))
    assert all(order.index((ref(n).key, "triage")) < order.index((ref(n).key, "continue")) for n in range(8))
    assert 2 < most <= 4


async def test_commands_run_while_every_slot_is_taken(store: PostgresStore) -> None:
    done = asyncio.Event()

    async def worker(job: Job) -> None:
        if job.work.kind == "ended":
            done.set()
        else:
            await done.wait()
        await store.jobs.settle(job)

    await arrive(store, *(triage(n) for n in range(4)))
    async with dispatching(store, worker):
        while not (await store.jobs.counts()).get("doing"):
            await asyncio.sleep(0.02)
        await arrive(store, Ended(ref=ref(0), how="closed"))
        await settled(store)
    assert not await store.jobs.counts()


async def test_a_job_that_waits_blocks_no_other(store: PostgresStore) -> None:
    done = []

    async def worker(job: Job) -> None:
        done.append(job.work.kind)
        await store.jobs.settle(job)

    await arrive(store, Edited(ref=ref(1)), Continue(ref=ref(1)))
    async with dispatching(store, worker), asyncio.timeout(patience(60)):
        while not done:
            await asyncio.sleep(0.02)
    assert done == ["continue"]


async def test_a_temporary_failure_is_retried(store: PostgresStore) -> None:
    async def worker(job: Job) -> None:
        if job.attempt < 4:
            raise RetryableError("GitHub answers 502", after=0.05)
        await store.jobs.settle(job)

    await arrive(store, triage(1))
    async with dispatching(store, worker):
        await settled(store)
    assert not await store.jobs.counts()


@pytest.mark.parametrize("owner", ["4711@a machine that is gone", "0123456789abcdef"], ids=["many", "an-older-release"])
async def test_other_workers_take_over_jobs_of_a_silent_worker(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch, owner: str
) -> None:
    monkeypatch.setattr(procrastinate, "STALLED", 0.5)
    monkeypatch.setattr(procrastinate, "HEARTBEAT", 0.1)
    await arrive(store, triage(1))
    left = await store.jobs.claim("run", owner)
    assert left is not None
    done = []

    async def worker(job: Job) -> None:
        done.append(job)
        await store.jobs.settle(job)

    async with dispatching(store, worker):
        await settled(store)
    assert [(job.id, job.attempt) for job in done] == [(left.id, 2)]


async def test_a_worker_whose_heartbeat_is_late_retains_its_own_job(
    store: PostgresStore, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(procrastinate, "STALLED", 0.0)
    swept, sweep = asyncio.Event(), wakeups.Workers.create_missing_wakeups

    async def create_missing_wakeups(self: wakeups.Workers) -> int:
        swept.set()
        return await sweep(self)

    monkeypatch.setattr(wakeups.Workers, "create_missing_wakeups", create_missing_wakeups)

    async def worker(job: Job) -> None:
        swept.clear()
        await swept.wait()
        await store.jobs.settle(job)

    await arrive(store, triage(1))
    async with dispatching(store, worker):
        await settled(store)
    assert ask(url, ATTEMPTS) == [(1,)]


async def test_workers_wait_longer_for_each_other_after_every_interruption(store: PostgresStore, url: str) -> None:
    await arrive(store, triage(1))
    with connect(url) as connection:
        late = "INSERT INTO procrastinate_workers (last_heartbeat) VALUES (now() - interval '8 s') RETURNING id"
        (number,) = connection.execute(late.encode()).fetchone() or (0,)
        for _ in range(20):
            connection.execute(b"UPDATE jobs SET due = 0")
            assert await store.jobs.claim("run", f"{number}@there") is not None
            if not await store.workers.free_stalled(5.0, "here"):
                break
    assert await store.workers.free_stalled(3.0, "here") == 1
    assert ask(url, ATTEMPTS) == [(6,)]


async def test_a_claim_whose_response_was_lost_is_repeated(store: PostgresStore) -> None:
    await arrive(store, triage(1))
    assert await store.jobs.claim("run", "4711@here:0") is not None

    async def worker(job: Job) -> None:
        assert job.attempt == 2
        await store.jobs.settle(job)

    async with dispatching(store, worker):
        await settled(store)
    assert not await store.jobs.counts()


async def test_a_job_with_a_lost_wakeup_is_found(store: PostgresStore, url: str) -> None:
    await arrive(store, triage(1), triage(2))
    with connect(url) as connection:
        connection.execute("DELETE FROM procrastinate_jobs")

    async with dispatching(store, store.jobs.settle):
        await settled(store)
    assert not await store.jobs.counts()


async def test_lost_connections_end_no_job(store: PostgresStore, url: str) -> None:
    async def worker(job: Job) -> None:
        if job.attempt == 1:
            with connect(url) as connection:
                others = "pid <> pg_backend_pid() AND datname = current_database()"
                connection.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {others}".encode())
            raise RetryableError("cut off", after=0.01)
        await store.jobs.settle(job)

    await arrive(store, triage(1), triage(2))
    async with dispatching(store, worker):
        await settled(store)
    assert not await store.jobs.counts()


async def test_stopping_waits_for_running_jobs_and_leaves_the_rest_to_others(store: PostgresStore) -> None:
    begun = asyncio.Event()

    async def worker(job: Job) -> None:
        begun.set()
        await asyncio.sleep(0.05 if job.work.key.endswith("#1") else 60)
        await store.jobs.settle(job)

    await arrive(store, *(triage(n) for n in (1, 2, 3, 4)))
    async with dispatching(store, worker):
        await begun.wait()
        await asyncio.sleep(0.1)
    assert await store.jobs.counts() == {"todo": 3}
