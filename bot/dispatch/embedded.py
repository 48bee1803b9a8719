"""Run stored jobs in this process: one at a time per issue and lane, a few issues at once."""

from __future__ import annotations

import asyncio
import logging
import secrets
import traceback
from collections.abc import Awaitable, Callable, Mapping

from bot.errors import NotOursError, RateLimitedError, RetryableError, SuspendedError
from bot.jobs import Job, Lane
from bot.store.database import StoreError
from bot.store.jobs import MAX_ATTEMPTS, Jobs

Worker = Callable[[Job], Awaitable[None]]
"""Does a job and settles it. What it raises decides what becomes of the job."""

CONTROL_SLOTS = 2
FIRST_WAIT, LIMITED_WAIT, LONGEST_WAIT = 2.0, 60.0, 3_600.0
"""Seconds before a job is tried again, doubled each time; the second where GitHub said that we ask too much."""
STORE_WAIT = 1.0
LOOK = 5.0
"""Seconds between two looks where nobody wakes us: the command line stores jobs too."""
TRIES_OF_A_FAULT = 4
"""Attempts of a job that fails in a way nobody foresaw; it will hardly get better."""

_LONGEST: tuple[tuple[int, float], ...] = ((12, 60.0), (18, 300.0))
"""Until which attempt a job waits no longer than so many seconds: after ten minutes without GitHub, one is enough."""

logger = logging.getLogger(__name__)


def pause(attempt: int, first: float) -> float:
    """Seconds before a job is tried again that failed for the so manieth time: doubled, within bounds that grow.

    Attempts that a kill cut short count too, so that their number alone must not put a job off for an hour.
    """
    longest = next((most for until, most in _LONGEST if attempt <= until), LONGEST_WAIT)
    return min(max(longest, 5 * first), first * 2.0 ** (attempt - 1))


class Dispatcher:
    """Takes what is due, as long as it runs. Whoever holds the data directory has one."""

    def __init__(self, jobs: Jobs, worker: Worker, *, concurrency: int) -> None:
        self._jobs = jobs
        self._worker = worker
        self._slots: Mapping[Lane, int] = {"run": concurrency, "control": CONTROL_SLOTS}
        self._owner = secrets.token_hex(8)
        self._running: dict[Lane, set[asyncio.Task[None]]] = {"run": set(), "control": set()}
        self._wake = asyncio.Event()
        self._draining = False

    def wake(self) -> None:
        """Look again: something was stored."""
        self._wake.set()

    async def run(self) -> None:
        """Work until drained."""
        while not self._draining:
            self._wake.clear()
            try:
                await self._claim()
            except StoreError:
                logger.exception("the store does not answer", extra={"action": "store_failed"})
                await asyncio.sleep(STORE_WAIT)
                continue
            if not self._draining:
                await self._sleep()

    async def drain(self, seconds: float) -> None:
        """Begin nothing more, let what runs end within some seconds, and free the rest for the next start."""
        self._draining = True
        self.wake()
        tasks = {task for lane in self._running.values() for task in lane}
        if not tasks:
            return
        _, late = await asyncio.wait(tasks, timeout=seconds)
        for task in late:
            task.cancel()
        if late:
            await asyncio.wait(late, timeout=1.0)

    async def _claim(self) -> None:
        """Fill the slots; commands first, for they may stop a run that is next."""
        lanes: tuple[Lane, ...] = ("control", "run")
        for lane in lanes:
            running = self._running[lane]
            while len(running) < self._slots[lane] and not self._draining:
                job = await self._jobs.claim(lane, self._owner)
                if job is None:
                    break
                task = asyncio.create_task(self._do(job), name=f"job {job.id}")
                running.add(task)
                task.add_done_callback(running.discard)
                task.add_done_callback(lambda _task: self._wake.set())

    async def _sleep(self) -> None:
        due = await self._jobs.idle()
        try:
            await asyncio.wait_for(self._wake.wait(), LOOK if due is None else min(due, LOOK))
        except TimeoutError:
            return

    async def _do(self, job: Job) -> None:
        try:
            await self._worker(job)
        except asyncio.CancelledError:
            await self._freed(lambda: self._jobs.put_off(job, 0.0, "the server stopped"))
            raise
        except NotOursError as error:
            logger.warning("%s", error, extra={"action": "job_taken_over", "job": job.id})
        except SuspendedError as error:
            why = str(error)
            await self._freed(lambda: self._jobs.park(job, why))
        except RateLimitedError as error:
            await self._wait(job, error)
        except RetryableError as error:
            await self._again(job, str(error), after=error.after, tries=MAX_ATTEMPTS)
        except Exception as error:  # whatever it is, the other jobs go on
            logger.exception("job %s failed", job.id, extra={"action": "job_failed", "job": job.id})
            said = traceback.format_exception_only(error)[-1].strip()
            await self._again(job, said, after=None, tries=TRIES_OF_A_FAULT)

    async def _again(self, job: Job, said: str, *, after: float | None, tries: int) -> None:
        if job.tried >= tries:
            logger.error("job %s is dead: %s", job.id, said, extra={"action": "job_dead", "job": job.id})
            await self._freed(lambda: self._jobs.bury(job, said))
            return
        wait = after if after is not None else pause(job.tried, FIRST_WAIT)
        logger.info("job %s again in %.0f s: %s", job.id, wait, said, extra={"action": "job_put_off", "job": job.id})
        await self._freed(lambda: self._jobs.put_off(job, wait, said))

    async def _wait(self, job: Job, limit: RateLimitedError) -> None:
        """A limit costs a job none of its attempts, however long it holds."""
        wait = limit.after if limit.after is not None else pause(min(job.waited + 1, 10), LIMITED_WAIT)
        said = str(limit)
        logger.info("job %s waits %.0f s: %s", job.id, wait, said, extra={"action": "job_limited", "job": job.id})
        await self._freed(lambda: self._jobs.put_off(job, wait, said, limited=True))

    async def _freed(self, change: Callable[[], Awaitable[None]]) -> None:
        """A job that was taken over meanwhile is the other's to free; a full disk is waited for."""
        while True:
            try:
                return await change()
            except NotOursError as error:
                return logger.warning("%s", error, extra={"action": "job_taken_over"})
            except StoreError:
                logger.exception("the store does not answer", extra={"action": "store_failed"})
                await asyncio.sleep(STORE_WAIT)
