"""Run jobs in any number of processes: procrastinate delivers wake-ups, the jobs table decides what to do."""

import asyncio
import logging
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from typing import Any, LiteralString, TypeVar

import psycopg
from procrastinate import App, JobContext, PsycopgConnector
from procrastinate.connector import Notify
from procrastinate.exceptions import ConnectorException
from procrastinate.sql import queries
from psycopg.errors import RaiseException
from psycopg_pool import PoolClosed

from bot.jobs import Job
from bot.store.databases.database import StoreError
from bot.store.databases.postgres import PostgresStore, address
from bot.store.databases.postgres_schema import EARLY, TASK
from bot.work import Lane
from bot.worker.dispatch.attempts import DEADLINE, Dispatcher, Worker

HEARTBEAT, STALLED = 1.0, 5.0
"""Seconds between two heartbeats, and seconds without one after which other workers take over."""
SWEEP = 1.5
"""Seconds between two checks for jobs that a dead or frozen process left."""
POLL = 1.0
"""Seconds between two polls for wake-ups without a notification: those that become due, and those that are retried."""
PRUNED = 3_600.0
"""Seconds after which procrastinate deletes a worker; one that is only frozen should still be registered on waking."""

logger = logging.getLogger(__name__)
CONNECTIONS = 4
"""Connections of one process at most, plus one for each queue that it listens to."""

T = TypeVar("T")
Away = Callable[[Exception], Awaitable[None]]
"""Called before a statement is retried; it waits."""
_ENDINGS = (queries["finish_job"], queries["retry_job"])


class RetryingConnector(PsycopgConnector):
    """Retries while the server is unavailable, so that no heartbeat ends and workers keep their registration."""

    def __init__(self, *, away: Away, **settings: Any) -> None:
        super().__init__(**settings)
        self._away = away
        self.workers: set[int] = set()
        """The ids that procrastinate assigned to the workers of this process."""

    async def execute_query_async(self, query: LiteralString, **arguments: Any) -> None:
        """Run a statement that returns nothing."""
        try:
            await self._with_retries(lambda: super(RetryingConnector, self).execute_query_async(query, **arguments))
        except ConnectorException as error:
            # Another worker received the wake-up while this process was frozen. The jobs table still knows what is due.
            if query not in _ENDINGS or not isinstance(error.__cause__, RaiseException):
                raise

    async def execute_query_one_async(self, query: LiteralString, **arguments: Any) -> dict[str, Any]:
        """Run a statement that returns one row."""
        row: dict[str, Any] = await self._with_retries(
            lambda: super(RetryingConnector, self).execute_query_one_async(query, **arguments)
        )
        if query == queries["register_worker"]:
            self.workers.add(row["worker_id"])
        return row

    async def execute_query_all_async(self, query: LiteralString, **arguments: Any) -> list[dict[str, Any]]:
        """Run a statement that returns rows."""
        return await self._with_retries(
            lambda: super(RetryingConnector, self).execute_query_all_async(query, **arguments)
        )

    async def listen_notify(self, on_notification: Notify, channels: Iterable[str]) -> None:
        """Listen on channels, and listen again after each lost connection."""
        # An iterator would be empty at the second attempt.
        names = list(channels)
        await self._with_retries(lambda: super(RetryingConnector, self).listen_notify(on_notification, names))

    async def _with_retries(self, attempt: Callable[[], Awaitable[T]]) -> T:
        while True:
            try:
                return await attempt()
            except ConnectorException as error:
                cause = error.__cause__
                # PoolClosed is an OperationalError too, but means that this process ends: a retry would never succeed.
                if not isinstance(cause, psycopg.OperationalError) or isinstance(cause, PoolClosed):
                    raise
                await self._away(cause)


async def _each_by_itself(connection: psycopg.AsyncConnection[Any]) -> None:
    await connection.set_autocommit(True)


@asynccontextmanager
async def open_engine(url: str, away: Away) -> AsyncIterator[tuple[App, RetryingConnector]]:
    """Open procrastinate with a connected pool."""
    connector = RetryingConnector(
        away=away, conninfo=address(url), min_size=1, max_size=CONNECTIONS, timeout=5.0, configure=_each_by_itself
    )
    async with App(connector=connector).open_async() as app:
        yield app, connector


class SharedDispatcher(Dispatcher):
    """Claims due jobs in turns with all other processes, and runs them."""

    def __init__(
        self,
        store: PostgresStore,
        worker: Worker,
        *,
        place: str,
        concurrency: int,
        drain: float,
        deadline: float = DEADLINE,
    ) -> None:
        """Store the settings: the process's ``place``, and the seconds (``drain``) that its jobs have at its end."""
        super().__init__(store.jobs, worker, concurrency=concurrency, deadline=deadline)
        self._store = store
        self._place = place
        self._drain = drain
        self._active_jobs: set[int] = set()
        self._awake: set[int] = set()
        self._stop = asyncio.Event()

    def wake(self) -> None:
        """Do nothing: Postgres notifies all processes."""

    async def run(self, ready: Callable[[], None] = lambda: None) -> None:
        """Work until drained; ``ready`` is called once jobs can be claimed."""
        async with open_engine(self._store.url, self._outage.wait) as (app, connector):
            app.task(name=TASK, pass_context=True)(self._claim_and_run)
            sweeping = asyncio.create_task(self._sweep(app, connector))
            lanes = [asyncio.create_task(self._run_lane(app, lane)) for lane in self._slots]
            ready()
            await self._stop.wait()
            for lane in lanes:
                # procrastinate takes this as a request to stop: it fetches nothing more and waits for the jobs that
                # run.
                lane.cancel()
            await asyncio.wait(lanes)
            sweeping.cancel()
            await asyncio.wait([sweeping])

    async def drain(self, seconds: float) -> None:  # noqa: ARG002  procrastinate needs it at construction
        """Claim no more jobs, let running ones finish, and free the rest for the other processes."""
        self._draining = True
        self._stop.set()

    async def _run_lane(self, app: App, lane: Lane) -> None:
        while not self._draining:
            try:
                await app.run_worker_async(
                    queues=[lane],
                    name=lane,
                    concurrency=self._slots[lane],
                    update_heartbeat_interval=HEARTBEAT,
                    fetch_job_polling_interval=POLL,
                    stalled_worker_timeout=PRUNED,
                    shutdown_graceful_timeout=self._drain,
                    # A finished wake-up contains nothing that the jobs table lacks.
                    delete_jobs="always",
                    install_signal_handlers=False,
                )
            except Exception:  # on any exception the lane restarts: a worker that stays alive without working is worse
                logger.exception("the loop for %s jobs failed", lane, extra={"action": "lane_ended"})
            await asyncio.sleep(POLL)

    async def _claim_and_run(self, context: JobContext, job: int, issue_key: str, lane: Lane) -> None:  # noqa: ARG002  shown to people who read procrastinate's table
        """Claim and run jobs while any is due. The wake-up only signals work; the store chooses the job."""
        wakeup, owner = context.job.id or 0, f"{context.job.worker_id}@{self._place}"
        claim = partial(self._store.jobs.claim, lane, owner, early=EARLY)
        # `_free_unanswered` must not treat a wake-up as lost while its task runs here.
        self._awake.add(wakeup)
        try:
            while not self._draining and (claimed := await self._outage.outlast(claim)) is not None:
                await self._make(claimed)
        finally:
            self._awake.discard(wakeup)

    async def _make(self, job: Job) -> None:
        self._active_jobs.add(job.id)
        try:
            await self._attempts.make(job)
        finally:
            self._active_jobs.discard(job.id)

    async def _sweep(self, app: App, connector: RetryingConnector) -> None:
        suspects: set[tuple[int, ...]] = set()
        while True:
            await asyncio.sleep(SWEEP * random.uniform(0.8, 1.2))  # noqa: S311  processes must not all query at once
            try:
                if self._outage.over_for(STALLED):  # during an outage no worker could send a heartbeat
                    await self._free_stalled(app)
                suspects = await self._free_unanswered(app, connector, suspects)
                await self._store.workers.create_missing_wakeups()
                self._outage.over()
            except StoreError as error:
                await self._outage.wait(error)
            except Exception:  # the next sweep may succeed
                logger.exception("stalled-worker sweep failed", extra={"action": "sweep_failed"})

    async def _free_stalled(self, app: App) -> None:
        freed = await self._store.workers.free_stalled(STALLED, self._place)
        if freed:
            logger.warning("took over the jobs of a stopped worker", extra={"action": "jobs_taken_over", "jobs": freed})
        for wakeup in await app.job_manager.get_stalled_jobs(seconds_since_heartbeat=STALLED):
            await self._retry_wakeup(app, wakeup.id or 0)

    async def _free_unanswered(
        self, app: App, connector: RetryingConnector, suspects: set[tuple[int, ...]]
    ) -> set[tuple[int, ...]]:
        """Free jobs and wake-ups that the database assigns to this process and that no task here processes.

        The response to their claim was lost. They are freed when two consecutive sweeps find them, since a first
        sighting may be a claim in progress. Returns those seen for the first time.
        """
        doing = await app.job_manager.list_jobs_async(status="doing")
        assigned: set[tuple[int, ...]] = {(entry.id or 0,) for entry in doing if entry.worker_id in connector.workers}
        assigned = {entry for entry in assigned if entry[0] not in self._awake}
        attempts = await self._store.workers.active_attempts(self._place)
        assigned |= {entry for entry in attempts if entry[0] not in self._active_jobs}
        for entry in assigned & suspects:
            if len(entry) == 1:
                await self._retry_wakeup(app, entry[0])
            else:
                await self._store.workers.free(*entry)
        return assigned - suspects

    async def _retry_wakeup(self, app: App, wakeup: int) -> None:
        await app.job_manager.retry_job_by_id_async(wakeup, datetime.fromtimestamp(self._store.clock(), UTC))
