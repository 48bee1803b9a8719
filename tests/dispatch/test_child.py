"""The worker process is restarted however it ended."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Any

import pytest

from bot.store.databases.database import StoreError
from bot.worker.dispatch import health
from bot.worker.dispatch.worker_process import WorkerProcess
from tests.support.patience import patience
from tests.support.preloaded import Worker


class FullDisk:
    """Jobs in a store that fails for a while."""

    def __init__(self) -> None:
        self.freed: list[bool] = []
        self.failures = 2

    async def recover(self, *, blame: bool, place: str | None = None) -> int:
        """Free nothing, after some failures."""
        if blame and self.failures:
            self.failures -= 1
            raise StoreError("disk full")
        self.freed.append(blame)
        return 0


async def test_the_worker_restarts_only_after_the_disk_has_room(monkeypatch) -> None:
    monkeypatch.setattr(health, "STORE_WAIT", 0.01)
    monkeypatch.setenv("GITHUB_APP_ID", "")
    jobs, given_up = FullDisk(), asyncio.Event()
    worker = WorkerProcess(jobs, os.open(os.devnull, os.O_RDONLY), given_up.set, concurrency=1)  # type: ignore[arg-type]
    assert await worker._recovered() == 0
    assert jobs.freed == [True]


@pytest.fixture
def forked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fork workers: their interpreter is started in tests/serve/test_serve.py. Other processes start as usual."""
    usual = asyncio.create_subprocess_exec

    async def start(*command: Any, **given: Any) -> Any:
        return await (Worker.start(command, given) if command[0] != os.devnull else usual(*command, **given))

    monkeypatch.setattr(asyncio, "create_subprocess_exec", start)


async def test_a_permanent_fault_of_the_worker_is_reported_and_not_retried(monkeypatch, forked) -> None:
    for name in ("GITHUB_APP_ID", "GITHUB_PRIVATE_KEY", "GITHUB_PRIVATE_KEY_PATH", "GITHUB_WEBHOOK_SECRET"):
        monkeypatch.delenv(name, raising=False)
    jobs, given_up = FullDisk(), asyncio.Event()
    worker = WorkerProcess(jobs, os.open(os.devnull, os.O_RDONLY), given_up.set, concurrency=1)  # type: ignore[arg-type]
    await worker.start()
    await asyncio.wait_for(given_up.wait(), patience(60))
    assert "GITHUB_APP_ID: missing" in worker.fault
    await worker.stop()


async def test_a_start_that_the_system_refuses_is_retried(monkeypatch, forked, caplog) -> None:
    for name in ("GITHUB_APP_ID", "GITHUB_PRIVATE_KEY", "GITHUB_PRIVATE_KEY_PATH", "GITHUB_WEBHOOK_SECRET"):
        monkeypatch.delenv(name, raising=False)
    jobs, given_up = FullDisk(), asyncio.Event()
    jobs.failures = 0
    worker = WorkerProcess(jobs, os.open(os.devnull, os.O_RDONLY), given_up.set, concurrency=1)  # type: ignore[arg-type]
    with monkeypatch.context() as refused:
        refused.setattr(sys, "executable", os.devnull)  # no program: EACCES
        await worker.start()
        async with asyncio.timeout(patience(20)):
            while "the worker ended with no start: Permission denied" not in caplog.text:
                await asyncio.sleep(0.01)
    await asyncio.wait_for(given_up.wait(), patience(60))
    assert "GITHUB_APP_ID: missing" in worker.fault  # the second start got as far as the settings
    await worker.stop()
