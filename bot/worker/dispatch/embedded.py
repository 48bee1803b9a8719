"""Run stored jobs in this process: one at a time per issue and lane, a few issues at once."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from collections.abc import Callable, Mapping

from bot.jobs import Lane
from bot.store.databases.database import StoreError
from bot.store.jobs import Jobs
from bot.worker.dispatch.attempts import DEADLINE, Attempts, Worker
from bot.worker.dispatch.health import ActiveAttempts, Outage

CONTROL_SLOTS = 2
"""Jobs of the lane ``control`` at once. The lane has slots of its own, so that a command never waits for a run."""
FREEING = 1.0
"""Seconds to free the jobs that were cancelled; the store may be busy."""
LOOK = 5.0
"""Seconds between two queries without a wake-up: the command line stores jobs too, and cannot wake this process."""


class Dispatcher:
    """Claims due jobs and runs them. Only the process that holds the data directory has one."""

    def __init__(self, jobs: Jobs, worker: Worker, *, concurrency: int, deadline: float = DEADLINE) -> None:
        self._jobs = jobs
        self._outage = Outage()
        self._attempts = Attempts(jobs, worker, self._outage, deadline=deadline)
        self._slots: Mapping[Lane, int] = {"run": concurrency, "control": CONTROL_SLOTS}
        self._owner = secrets.token_hex(8)
        self._running: dict[Lane, set[asyncio.Task[bool]]] = {"run": set(), "control": set()}
        self._wake = asyncio.Event()
        self._draining = False
        self._ended = asyncio.Event()

    @property
    def active_attempts(self) -> ActiveAttempts:
        """Return the attempts in progress."""
        return self._attempts.active_attempts

    def wake(self) -> None:
        """Query for jobs again, because one was stored."""
        self._wake.set()

    async def run(self, ready: Callable[[], None] = lambda: None) -> None:
        """Work until drained; ``ready`` is called once jobs can be claimed."""
        ready()
        try:
            await self._work()
        finally:
            self._ended.set()

    async def _work(self) -> None:
        while not self._draining:
            # Cleared before the query: a job that is stored during it sets the event again.
            self._wake.clear()
            try:
                await self._claim()
                self._outage.over()
                if not self._draining:
                    await self._sleep()
            except StoreError as error:
                await self._outage.wait(error)

    async def drain(self, seconds: float) -> None:
        """Claim no more jobs, let running ones finish for ``seconds``, and free the rest for the next start."""
        until = time.monotonic() + seconds
        self._draining = True
        self.wake()
        # A claim in progress may still return a job, so the running tasks are known only after the last claim.
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._ended.wait(), seconds)
        tasks = {task for lane in self._running.values() for task in lane}
        if not tasks:
            return
        _, unfinished = await asyncio.wait(tasks, timeout=max(until - time.monotonic(), 0.0))
        for task in unfinished:
            task.cancel()
        if unfinished:
            await asyncio.wait(unfinished, timeout=FREEING)

    async def _claim(self) -> None:
        """Fill the free slots; the lane ``control`` comes first, because a command may stop a run that is next."""
        lanes: tuple[Lane, ...] = ("control", "run")
        for lane in lanes:
            running = self._running[lane]
            while len(running) < self._slots[lane] and not self._draining:
                job = await self._jobs.claim(lane, self._owner)
                if job is None:
                    break
                # Draining began during the claim: the job is freed at once for the next start.
                if self._draining:
                    await self._jobs.postpone(job, 0.0, "the server stopped")
                    break
                task = asyncio.create_task(self._attempts.make(job), name=f"job {job.id}")
                running.add(task)
                task.add_done_callback(running.discard)
                # The end of a job frees a slot and may unblock the next job of its issue.
                task.add_done_callback(lambda _task: self._wake.set())

    async def _sleep(self) -> None:
        due = await self._jobs.idle()
        try:
            await asyncio.wait_for(self._wake.wait(), LOOK if due is None else min(due, LOOK))
        except TimeoutError:
            return
