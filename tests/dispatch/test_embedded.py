"""The dispatcher with a real store: concurrency, handling of failures, and shutdown."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bot.errors import RetryableError, SuspendedError
from bot.jobs import Continue, Ended, Job, Triage, Work
from bot.ports import IssueRef
from bot.store.databases.sqlite import SqliteStore
from bot.store.jobs.deliveries import Arrival
from bot.work import Lane
from bot.worker.dispatch import attempts
from bot.worker.dispatch.attempts import FIRST_WAIT, LIMITED_WAIT, Dispatcher, pause
from bot.worker.dispatch.health import Outage
from tests.support.patience import patience

Worker = Callable[[Job], Awaitable[None]]


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    store = SqliteStore(tmp_path / "store.db")
    yield store
    await store.aclose()


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempts, "FIRST_WAIT", 0.01)


def ref(number: int) -> IssueRef:
    return IssueRef("github.com", 7, 9, "octo", "parser", number)


async def arrive(store: SqliteStore, *work: Work) -> None:
    for number, one in enumerate(work):
        await store.inbox.accept(Arrival(f"{one.key}-{one.kind}-{number}", "issues", b"{}", (one,)))


@asynccontextmanager
async def dispatching(store: SqliteStore, worker: Worker, concurrency: int = 3) -> AsyncIterator[Dispatcher]:
    dispatcher = Dispatcher(store.jobs, worker, concurrency=concurrency)
    running = asyncio.create_task(dispatcher.run())
    yield dispatcher
    await dispatcher.drain(2.0)
    await running


async def settled(store: SqliteStore) -> None:
    async with asyncio.timeout(patience(10)):
        while set(await store.jobs.counts()) - {"dead", "parked"}:
            await asyncio.sleep(0.01)


async def test_issues_run_concurrently_up_to_a_limit_and_each_in_order(store: SqliteStore) -> None:
    busy: Counter[str] = Counter()
    most, order = 0, []
    full = asyncio.Event()

    async def worker(job: Job) -> None:
        nonlocal most
        busy[job.work.key] += 1
        assert busy[job.work.key] == 1
        most = max(most, busy.total())
        if most == 3:
            full.set()
        await full.wait()
        await asyncio.sleep(0.02)
        order.append((job.work.key, job.work.kind))
        busy[job.work.key] -= 1
        await store.jobs.settle(job)

    await arrive(store, *(work for n in range(6) for work in (Triage(ref=ref(n), why="opened"), Continue(ref=ref(n)))))
    async with dispatching(store, worker):
        await settled(store)
    assert most == 3
    assert all(order.index((ref(n).key, "triage")) < order.index((ref(n).key, "continue")) for n in range(6))


async def test_a_stop_runs_while_every_slot_is_taken(store: SqliteStore) -> None:
    done = asyncio.Event()

    async def worker(job: Job) -> None:
        if job.work.kind == "ended":
            done.set()
        else:
            await done.wait()
        await store.jobs.settle(job)

    await arrive(store, *(Triage(ref=ref(n), why="opened") for n in range(5)))
    async with dispatching(store, worker, concurrency=2) as dispatcher:
        await asyncio.sleep(0.05)
        await arrive(store, Ended(ref=ref(0), how="closed"))
        dispatcher.wake()
        await settled(store)
    assert not await store.jobs.counts()


async def test_temporary_failures_are_retried_and_faults_are_not(store: SqliteStore) -> None:
    tries: Counter[int] = Counter()

    async def worker(job: Job) -> None:
        number = int(job.work.key.rpartition("#")[2])
        tries[number] += 1
        if number == 1 and tries[1] < 6:
            raise RetryableError("GitHub answers 502", after=0.0)
        if number == 2:
            raise KeyError("a bug")
        await store.jobs.settle(job)

    await arrive(store, *(Triage(ref=ref(n), why="opened") for n in (1, 2, 3)))
    async with dispatching(store, worker):
        await settled(store)
    assert tries == {1: 6, 2: attempts.TRIES_OF_A_FAULT, 3: 1}
    assert [(dead.issue_key, dead.message) for dead in await store.pages.queue.listing("dead", None)] == [
        (ref(2).key, "KeyError: 'a bug'")
    ]


async def test_jobs_of_a_suspended_installation_are_parked(
    store: SqliteStore, caplog: pytest.LogCaptureFixture
) -> None:
    async def worker(job: Job) -> None:
        raise SuspendedError("suspended")

    await arrive(store, Triage(ref=ref(1), why="opened"))
    async with dispatching(store, worker):
        await settled(store)
    assert [job.message for job in await store.pages.queue.listing("parked", None)] == ["suspended"]
    assert [line.__dict__["action"] for line in caplog.records if "suspended" in line.getMessage()] == ["job_parked"]


async def test_stopping_waits_for_running_jobs_and_frees_the_rest(store: SqliteStore) -> None:
    begun = asyncio.Event()

    async def worker(job: Job) -> None:
        begun.set()
        await asyncio.sleep(0.05 if job.work.key.endswith("#1") else 60)
        await store.jobs.settle(job)

    await arrive(store, *(Triage(ref=ref(n), why="opened") for n in (1, 2, 3, 4)))
    dispatcher = Dispatcher(store.jobs, worker, concurrency=2)
    running = asyncio.create_task(dispatcher.run())
    await begun.wait()
    await asyncio.sleep(0.02)
    await dispatcher.drain(patience(0.1))
    await running
    assert await store.jobs.counts() == {"todo": 3}


async def test_a_job_stored_while_the_dispatcher_sleeps_starts_at_once(store: SqliteStore) -> None:
    async def worker(job: Job) -> None:
        await store.jobs.settle(job)

    async with dispatching(store, worker) as dispatcher:
        await asyncio.sleep(0.05)
        await arrive(store, Triage(ref=ref(1), why="opened"))
        dispatcher.wake()
        await settled(store)
    assert not await store.jobs.counts()


@pytest.mark.parametrize(
    ("attempt", "first", "seconds"),
    [
        (1, FIRST_WAIT, 2),
        (4, FIRST_WAIT, 16),
        (12, FIRST_WAIT, 60),
        (13, FIRST_WAIT, 300),
        (25, FIRST_WAIT, 3_600),
        (1, LIMITED_WAIT, 60),
        (2, LIMITED_WAIT, 120),
        (12, LIMITED_WAIT, 300),
        (25, LIMITED_WAIT, 3_600),
    ],
)
def test_backoff_grows_but_ten_minutes_of_failures_do_not_cost_an_hour(attempt, first, seconds) -> None:
    assert pause(attempt, first) == seconds


async def test_a_job_that_is_claimed_while_we_stop_is_freed_and_not_started(store: SqliteStore) -> None:
    await arrive(store, Triage(ref=ref(1), why="opened"))
    begun: list[Job] = []
    claiming, go = asyncio.Event(), asyncio.Event()
    claim = store.jobs.claim

    class Slow:
        """The store's jobs, the first of which is returned late."""

        def __getattr__(self, name: str) -> object:
            return getattr(store.jobs, name)

        async def claim(self, lane: Lane, owner: str) -> Job | None:
            if lane == "run":
                claiming.set()
                await go.wait()
            return await claim(lane, owner)

    async def work(job: Job) -> None:
        begun.append(job)
        await store.jobs.settle(job)

    dispatcher = Dispatcher(Slow(), work, concurrency=1)  # type: ignore[arg-type]
    running = asyncio.create_task(dispatcher.run())
    await claiming.wait()
    draining = asyncio.create_task(dispatcher.drain(5.0))
    await asyncio.sleep(0.05)
    go.set()
    await asyncio.gather(draining, running)
    assert begun == []
    assert await store.jobs.counts() == {"todo": 1}


async def test_a_job_in_progress_when_the_store_is_closed_ends_quietly(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "closed.db")
    await arrive(store, Triage(ref=ref(1), why="opened"))
    job = await store.jobs.claim("run", "us")
    assert job is not None

    async def work(job: Job) -> None:
        await store.aclose()
        await store.jobs.settle(job)

    async with asyncio.timeout(10):
        assert not await attempts.Attempts(store.jobs, work, Outage()).make(job)


async def test_a_job_that_takes_too_long_is_cancelled_retried_and_ends_dead(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []

    async def worker(job: Job) -> None:
        if job.work.key == ref(1).key:
            seen.append(job.late)
            await asyncio.sleep(60)
        await store.jobs.settle(job)

    await arrive(store, Triage(ref=ref(1), why="opened"), Triage(ref=ref(2), why="opened"))
    dispatcher = Dispatcher(store.jobs, worker, concurrency=1, deadline=0.05)
    running = asyncio.create_task(dispatcher.run())
    await settled(store)
    await dispatcher.drain(2.0)
    await running
    assert seen == [0, 1, 2, 3]
    dead = await store.pages.queue.listing("dead", None)
    assert [(one.issue_key, one.message) for one in dead] == [(ref(1).key, "the job took longer than 0 s")]


async def test_a_timeout_inside_a_job_is_an_ordinary_fault(store: SqliteStore) -> None:
    async def worker(job: Job) -> None:
        raise TimeoutError(job.late)

    await arrive(store, Triage(ref=ref(1), why="opened"))
    async with dispatching(store, worker):
        await settled(store)
    assert [one.message for one in await store.pages.queue.listing("dead", None)] == ["TimeoutError: 0"]
