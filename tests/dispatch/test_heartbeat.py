"""A worker is not ready if it or one of its jobs hangs."""

from __future__ import annotations

import asyncio

import pytest

from bot.server.process import ExternalWorkers
from bot.store.tables import Store
from bot.worker.dispatch.health import OVERDUE, SILENT, ActiveAttempts, HeartbeatMonitor, send_heartbeats
from bot.worker.dispatch.worker_process import ALIVE, READY, WorkerProcess


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_a_silent_worker_is_not_ready(clock: Clock) -> None:
    pulse = HeartbeatMonitor(clock)
    assert pulse.fault() == "the worker is starting"
    pulse.received(0.0)
    assert pulse.fault() == ""
    clock.now += SILENT + 1
    assert pulse.fault() == "the worker has sent no heartbeat for 21 seconds"
    pulse.received(0.0)
    assert pulse.fault() == ""
    pulse.stopped()
    assert pulse.fault() == "the worker is starting"


def test_a_worker_with_an_overdue_job_is_not_ready(clock: Clock) -> None:
    pulse, active_attempts = HeartbeatMonitor(clock), ActiveAttempts(clock)
    with active_attempts.attempt():
        clock.now += OVERDUE
        pulse.received(active_attempts.oldest())
        assert pulse.fault() == ""
        clock.now += 2
        pulse.received(active_attempts.oldest())
        assert pulse.fault() == "a job has been running for 3602 seconds"
    pulse.received(active_attempts.oldest())
    assert pulse.fault() == ""


def test_two_attempts_at_one_job_end_independently(clock: Clock) -> None:
    active_attempts = ActiveAttempts(clock)
    with active_attempts.attempt():
        clock.now += 5
        with active_attempts.attempt():
            clock.now += 1
            assert active_attempts.oldest() == 6.0
        assert active_attempts.oldest() == 6.0
    assert active_attempts.oldest() == 0.0


async def test_a_running_event_loop_sends_heartbeats() -> None:
    sent: list[tuple[float, str]] = []
    beating = asyncio.create_task(
        send_heartbeats(ActiveAttempts(), lambda: "no space", lambda *beat: sent.append(beat), every=0.01)
    )
    async with asyncio.timeout(30):
        while len(sent) < 3:
            await asyncio.sleep(0.01)
    beating.cancel()
    assert sent[:3] == [(0.0, "no space")] * 3


async def test_heartbeats_count_only_once_the_worker_takes_jobs() -> None:
    worker = WorkerProcess(None, 0, lambda: None, concurrency=1)  # type: ignore[arg-type]
    worker._receive(b"a library prints something\n")
    assert await worker.not_ready() == "the worker is starting"
    worker._receive(READY)
    worker._receive(ALIVE + b"%.0f\n" % (OVERDUE + 1))
    assert "a job has been running" in await worker.not_ready()
    worker._receive(ALIVE + b"3 the disk is full\n")
    assert await worker.not_ready() == "the disk is full"
    worker._receive(ALIVE + b"3 \n")
    assert await worker.not_ready() == ""


async def test_a_server_without_a_worker_of_its_own_asks_the_store(store: Store) -> None:
    server = ExternalWorkers(store)
    assert await server.not_ready() == "no worker sends heartbeats"
    await store.leases.record("here:1", 0.05)
    await asyncio.sleep(0.1)
    assert await server.not_ready() == "no worker sends heartbeats"
    await store.leases.record("here:1", 600.0)
    await store.leases.record("there:2", 600.0, "the disk is full")
    assert await server.not_ready() == ""
    assert await store.leases.alive() == ["", "the disk is full"]
    await store.leases.record("here:1", 600.0, "the disk is full")
    assert await server.not_ready() == "the disk is full"
