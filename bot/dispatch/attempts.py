"""One attempt at a job, and what becomes of the job if it fails."""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import replace

from bot.dispatch.heartbeat import InHand
from bot.dispatch.outage import Outage
from bot.errors import NotOursError, RateLimitedError, RetryableError, SuspendedError
from bot.jobs import Job
from bot.store.database import ClosedError, StoreError
from bot.store.dead import Death
from bot.store.jobs import MAX_ATTEMPTS, Jobs

Worker = Callable[[Job], Awaitable[None]]
"""Does a job and settles it. What it raises decides what becomes of the job."""

FIRST_WAIT, LIMITED_WAIT, LONGEST_WAIT = 2.0, 60.0, 3_600.0
"""Seconds before a job is tried again, doubled each time; the second where GitHub said that we ask too much."""
TRIES_OF_A_FAULT = 4
"""Attempts of a job that fails in a way nobody foresaw; it will hardly get better."""
DEADLINE = 900.0
"""Seconds that one attempt may take, unless told otherwise."""
TRIES_OF_A_LATE_JOB = 4
"""Attempts of a job that takes too long; from the third on, a run reports without reading the code."""

_LONGEST: tuple[tuple[int, float], ...] = ((12, 60.0), (18, 300.0))
"""Until which attempt a job waits no longer than so many seconds: after ten minutes without GitHub, one is enough."""

logger = logging.getLogger(__name__)


def pause(attempt: int, first: float) -> float:
    """Seconds before a job is tried again that failed for the so manieth time: doubled, within bounds that grow.

    Attempts that a kill cut short count too, so that their number alone must not put a job off for an hour.
    """
    longest = next((most for until, most in _LONGEST if attempt <= until), LONGEST_WAIT)
    return min(max(longest, 5 * first), first * 2.0 ** (attempt - 1))


class Attempts:
    """Makes attempts, any number at once; after each the job is settled, put off, parked, buried, or another's."""

    def __init__(self, jobs: Jobs, worker: Worker, outage: Outage, *, deadline: float = DEADLINE) -> None:
        self._jobs = jobs
        self._worker = worker
        self._outage = outage
        self.in_hand = InHand()
        self._deadline = deadline
        self._late: Counter[int] = Counter()
        """How often a job took too long, by its id."""

    async def make(self, job: Job) -> bool:
        """Make one; False if the job was taken over meanwhile.

        Raises:
            asyncio.CancelledError: it was cut off, and the job is free again.
        """
        limit = asyncio.timeout(self._deadline)
        try:
            with self.in_hand.attempt(job.id):
                async with limit:
                    await self._worker(replace(job, late=self._late[job.id]))
        except asyncio.CancelledError:
            await self._freed(lambda: self._jobs.put_off(job, 0.0, "the server stopped"))
            raise
        except NotOursError as error:
            logger.warning("%s", error, extra={"action": "job_taken_over", "job": job.id})
            return False
        except SuspendedError as error:
            why = str(error)
            return await self._freed(lambda: self._jobs.park(job, why))
        except RateLimitedError as error:
            return await self._wait(job, error)
        except RetryableError as error:
            return await self._again(job, str(error), after=error.after, death="transient")
        except Exception as error:  # whatever it is, the other jobs go on
            is_late = limit.expired() and isinstance(error, TimeoutError)
            return await (self._too_late(job) if is_late else self._failed(job, error))
        self._late.pop(job.id, None)
        return True

    async def _failed(self, job: Job, error: Exception) -> bool:
        logger.error("job %s failed", job.id, exc_info=error, extra={"action": "job_failed", "job": job.id})
        reason = traceback.format_exception_only(error)[-1].strip()
        return await self._again(job, reason, after=None, death="fault")

    async def _too_late(self, job: Job) -> bool:
        """Try a job that took too long again, a few times; what threads still do for it ends by limits of its own."""
        self._late[job.id] += 1
        reason = f"the job took longer than {self._deadline:.0f} s"
        logger.warning("job %s was ended: %s", job.id, reason, extra={"action": "job_late", "job": job.id})
        tries = job.tried if self._late[job.id] >= TRIES_OF_A_LATE_JOB else MAX_ATTEMPTS
        return await self._again(job, reason, after=None, death="fault", tries=tries)

    async def _again(self, job: Job, said: str, *, after: float | None, death: Death, tries: int | None = None) -> bool:
        usual = TRIES_OF_A_FAULT if death == "fault" else MAX_ATTEMPTS
        if job.tried >= (usual if tries is None else tries):
            logger.error("job %s is dead: %s", job.id, said, extra={"action": "job_dead", "job": job.id})
            return await self._freed(lambda: self._jobs.bury(job, said, death=death))
        wait = after if after is not None else pause(job.tried, FIRST_WAIT)
        logger.info("job %s again in %.0f s: %s", job.id, wait, said, extra={"action": "job_put_off", "job": job.id})
        return await self._freed(lambda: self._jobs.put_off(job, wait, said))

    async def _wait(self, job: Job, limit: RateLimitedError) -> bool:
        """A limit costs a job none of its attempts, however long it holds."""
        wait = limit.after if limit.after is not None else pause(min(job.waited + 1, 10), LIMITED_WAIT)
        said = str(limit)
        logger.info("job %s waits %.0f s: %s", job.id, wait, said, extra={"action": "job_limited", "job": job.id})
        return await self._freed(lambda: self._jobs.put_off(job, wait, said, limited=True))

    async def _freed(self, change: Callable[[], Awaitable[None]]) -> bool:
        """A job that was taken over meanwhile is the other's to free; a full disk is waited for.

        One that is still in hand when the store is closed is freed at the next start, or by another process.
        """
        while True:
            try:
                await change()
            except NotOursError as error:
                logger.warning("%s", error, extra={"action": "job_taken_over"})
                return False
            except ClosedError:
                return False
            except StoreError as error:
                await self._outage.wait(error)
            else:
                self._outage.over()
                return True
