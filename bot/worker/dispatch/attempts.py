"""Make attempts at jobs in this process, a few issues at once, and decide what happens to a job that fails."""

import asyncio
import contextlib
import logging
import secrets
import time
import traceback
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace

from bot.errors import JobTakenOverError, RateLimitedError, RetryableError, SuspendedError
from bot.jobs import Job
from bot.store.databases.database import ClosedError, StoreError
from bot.store.jobs.queue import MAX_ATTEMPTS, Jobs
from bot.store.jobs.turns import Death
from bot.work import Lane
from bot.worker.dispatch.health import ActiveAttempts, Outage

Worker = Callable[[Job], Awaitable[None]]
"""Runs a job and settles it. The exception that it raises decides what happens to the job."""
FIRST_WAIT, LIMITED_WAIT, LONGEST_WAIT = 2.0, 60.0, 3_600.0
"""Seconds before a job is retried, doubled each time. ``LIMITED_WAIT`` applies if GitHub's rate limit was exceeded."""
TRIES_OF_A_FAULT = 4
"""Attempts of a job that fails with an unexpected exception; more are unlikely to succeed."""
DEADLINE = 900.0
"""Default limit for one attempt, in seconds."""
TRIES_OF_A_LATE_JOB = 4
"""Attempts of a job that timed out; from the third on, a run reports without reading the code."""
_MAX_WAITS: tuple[tuple[int, float], ...] = ((12, 60.0), (18, 300.0))
"""Pairs of an attempt and the longest wait up to it, in seconds: jobs resume soon after a short outage of GitHub."""
logger = logging.getLogger(__name__)
CONTROL_SLOTS = 2
"""Jobs of the lane ``control`` at once. The lane has slots of its own, so that a command never waits for a run."""
FREEING = 1.0
"""Seconds to free the jobs that were cancelled; the store may be busy."""
LOOK = 5.0
"""Seconds between two queries without a wake-up: the command line stores jobs too, and cannot wake this process."""


def pause(attempt: int, first: float) -> float:
    """Return the seconds before the retry after a failed attempt: doubled each time, up to a bound that grows.

    Attempts that a kill ended count too, so the number of attempts alone must not postpone a job for an hour.
    """
    longest = next((most for until, most in _MAX_WAITS if attempt <= until), LONGEST_WAIT)
    return min(max(longest, 5 * first), first * 2.0 ** (attempt - 1))


class Attempts:
    """Makes any number of attempts concurrently, then settles, postpones or parks each job, or marks it as dead."""

    def __init__(self, jobs: Jobs, worker: Worker, outage: Outage, *, deadline: float = DEADLINE) -> None:
        self._jobs = jobs
        self._worker = worker
        self._outage = outage
        self.active_attempts = ActiveAttempts()
        self._deadline = deadline
        self._late: Counter[int] = Counter()
        """Number of timeouts of each job, by its id."""

    async def make(self, job: Job) -> bool:
        """Make one attempt; False if another attempt took the job over. If it is cancelled, the job is free again."""
        limit = asyncio.timeout(self._deadline)
        try:
            with self.active_attempts.attempt():
                async with limit:
                    await self._worker(replace(job, late=self._late[job.id]))
        except asyncio.CancelledError:
            # Due at once, because the job did not fail.
            await self._update_job(lambda: self._jobs.postpone(job, 0.0, "the server stopped"))
            raise
        except JobTakenOverError as error:
            logger.warning("%s", error, extra={"action": "job_taken_over", "job": job.id})
            return False
        except SuspendedError as error:
            why = str(error)
            logger.warning("job %s is parked: %s", job.id, why, extra={"action": "job_parked", "job": job.id})
            return await self._update_job(lambda: self._jobs.park(job, why))
        except RateLimitedError as error:
            # Before RetryableError, its base class: a limit costs the job no attempt.
            return await self._wait(job, error)
        except RetryableError as error:
            return await self._retry(job, str(error), after=error.after, death="transient")
        except Exception as error:  # no exception of one job may stop the others
            # The job's own code may raise TimeoutError too; that is an ordinary fault.
            is_late = limit.expired() and isinstance(error, TimeoutError)
            return await (self._too_late(job) if is_late else self._failed(job, error))
        self._late.pop(job.id, None)
        return True

    async def _failed(self, job: Job, error: Exception) -> bool:
        logger.error("job %s failed", job.id, exc_info=error, extra={"action": "job_failed", "job": job.id})
        reason = traceback.format_exception_only(error)[-1].strip()
        return await self._retry(job, reason, after=None, death="fault")

    async def _too_late(self, job: Job) -> bool:
        """Retry a job that took too long, a few times. Threads that still work for it have time limits of their own."""
        self._late[job.id] += 1
        reason = f"the job took longer than {self._deadline:.0f} s"
        logger.warning("job %s was ended: %s", job.id, reason, extra={"action": "job_late", "job": job.id})
        max_tries = job.tried if self._late[job.id] >= TRIES_OF_A_LATE_JOB else MAX_ATTEMPTS
        return await self._retry(job, reason, after=None, death="fault", max_tries=max_tries)

    async def _retry(
        self, job: Job, message: str, *, after: float | None, death: Death, max_tries: int | None = None
    ) -> bool:
        default_tries = TRIES_OF_A_FAULT if death == "fault" else MAX_ATTEMPTS
        if job.tried >= (default_tries if max_tries is None else max_tries):
            logger.error("job %s is dead: %s", job.id, message, extra={"action": "job_dead", "job": job.id})
            return await self._update_job(lambda: self._jobs.mark_dead(job, message, death=death))
        wait = after if after is not None else pause(job.tried, FIRST_WAIT)
        logger.info(
            "job %s is retried in %.0f s: %s", job.id, wait, message, extra={"action": "job_put_off", "job": job.id}
        )
        return await self._update_job(lambda: self._jobs.postpone(job, wait, message))

    async def _wait(self, job: Job, limit: RateLimitedError) -> bool:
        """Postpone a job that reached a rate limit; this costs it no attempt, however long the limit lasts."""
        # At most the tenth step, below the attempts at which `pause` raises its bound: a wait for a limit stays at 300
        # seconds.
        wait = limit.after if limit.after is not None else pause(min(job.waited + 1, 10), LIMITED_WAIT)
        message = str(limit)
        logger.info("job %s waits %.0f s: %s", job.id, wait, message, extra={"action": "job_limited", "job": job.id})
        return await self._update_job(lambda: self._jobs.postpone(job, wait, message, limited=True))

    async def _update_job(self, change: Callable[[], Awaitable[None]]) -> bool:
        """Change the job's state, and wait while the store is unavailable, for example because the disk is full.

        Returns False without a change if another attempt took the job over, which then frees it, or if the store is
        closed. A job still in progress then is freed at the next start, or by another process.
        """
        try:
            await self._outage.outlast(change)
        except JobTakenOverError as error:
            logger.warning("%s", error, extra={"action": "job_taken_over"})
            return False
        except ClosedError:
            return False
        return True


class Dispatcher:
    """Claims due jobs and runs them. Only the process that holds the data directory has one."""

    def __init__(self, jobs: Jobs, worker: Worker, *, concurrency: int, deadline: float = DEADLINE) -> None:
        """Store the settings; nothing is started. Commands have slots besides ``concurrency``."""
        self._jobs = jobs
        self._outage = Outage()
        self._attempts = Attempts(jobs, worker, self._outage, deadline=deadline)
        self.active_attempts = self._attempts.active_attempts
        self._slots: Mapping[Lane, int] = {"run": concurrency, "control": CONTROL_SLOTS}
        self._owner = secrets.token_hex(8)
        self._running: dict[Lane, set[asyncio.Task[bool]]] = {"run": set(), "control": set()}
        self._wake = asyncio.Event()
        self._draining = False
        self._ended = asyncio.Event()

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
