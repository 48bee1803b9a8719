"""Claims a job, prepares the repository, runs the graph, publishes the outcome and settles the job."""

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from bot import errors, jobs
from bot.observability.logs import log_context
from bot.observability.measures import JOB_SECONDS, JOBS, REACHED_LIMITS
from bot.observability.metrics import sharing
from bot.observability.observer import tracing
from bot.observability.spans import Attributes, Spans
from bot.ports import RepositoryRef
from bot.settings.server import ServerSettings
from bot.store.tables import Store
from bot.work import PlacedWork
from bot.worker import control, outcomes
from bot.worker.commands.execute import page_command
from bot.worker.issue_job import IssueJob, note_missing
from bot.worker.runs import api_runs, lane, steps
from bot.worker.tools import Tools, open_tools
from bot.worker.upkeep import run_upkeep

__all__ = ["Worker", "open_worker"]

# Subclasses before their bases, because the first match counts.
_OUTCOMES: tuple[tuple[type[BaseException], str], ...] = (
    (errors.RateLimitedError, "limited"),
    (errors.RetryableError, "put_off"),
    (errors.SuspendedError, "parked"),
    (errors.JobTakenOverError, "taken_over"),
    (asyncio.CancelledError, "stopped"),
)

ON_ISSUE: Mapping[type[jobs.OnIssueWork], Callable[[IssueJob, Any], Awaitable[None]]] = {
    jobs.Triage: lane.triage,
    jobs.Edited: lane.edited,
    jobs.Reply: lane.reply,
    jobs.Continue: lane.resume_run,
    jobs.Expire: lane.expire,
    jobs.Remind: lane.remind,
    jobs.Alert: control.alert,
    jobs.Commands: control.commands,
    jobs.PageCommand: page_command,
    jobs.LeftOver: control.left_over,
    jobs.CommentDeleted: control.comment_deleted,
    jobs.Ended: control.ended,
    jobs.Score: outcomes.score,
    jobs.Labelled: control.labelled,
    jobs.Typed: control.typed,
}
"""The function that does each kind of work on an issue."""
logger = logging.getLogger(__name__)


@contextlib.contextmanager
def instrumented(job: jobs.Job, spans: Spans) -> Iterator[None]:
    """Count and time an attempt, within its own span."""
    kind, started = job.work.kind, time.perf_counter()
    outcome = "failed"
    try:
        with spans.within(f"job {kind}", _named(job)):
            yield
        outcome = "done"
    except BaseException as error:
        outcome = next((name for kind_of, name in _OUTCOMES if isinstance(error, kind_of)), "failed")
        if isinstance(error, errors.RetryableError) and error.limit is not None:
            REACHED_LIMITS.labels(error.limit).inc()
        raise
    finally:
        JOBS.labels(kind, outcome).inc()
        JOB_SECONDS.labels(kind).observe(time.perf_counter() - started)


def _named(job: jobs.Job) -> Attributes:
    """Return the span attributes of a job. All are ids or fixed names: user text must not reach a trace."""
    return {
        "triage.job.kind": job.work.kind,
        "triage.job.id": job.id,
        "triage.job.attempt": job.attempt,
        "triage.delivery": job.delivery,
        "triage.issue": job.work.key,
    }


def _log_ids(job: jobs.Job) -> dict[str, object]:
    """Return what every log record of a job contains; the repository by its name, which is readable."""
    ids: dict[str, object] = {"delivery": job.delivery, "job": job.id, "issue": job.work.key}
    if isinstance(job.work, jobs.InstallationChanged):
        return ids
    ref = _repository_of(job.work)
    return ids | {"repository": f"{ref.owner}/{ref.name}"}


def _repository_of(work: PlacedWork) -> RepositoryRef:
    return work.ref if isinstance(work.ref, RepositoryRef) else work.ref.repository


class Worker:
    """Processes one job per call of `work`."""

    def __init__(self, tools: Tools, spans: Spans) -> None:
        self._tools = tools
        self._spans = spans

    async def run_upkeep(self) -> None:
        """Do the maintenance that is due now."""
        await run_upkeep(self._tools)

    @property
    def store(self) -> Store:
        """The store that all jobs share."""
        return self._tools.store

    def fault(self) -> str:
        """Return what keeps jobs from being done until an operator acts; empty if nothing does."""
        return self._tools.github.fault or self._tools.mirrors.fault()

    async def work(self, job: jobs.Job) -> None:
        """Do a job and settle it; raises ``BotError``, from whose type the dispatcher decides what follows."""
        started = time.perf_counter()
        with log_context(**_log_ids(job)), instrumented(job, self._spans):
            await self._do(job)
            seconds = round(time.perf_counter() - started, 3)
            logger.info("%s is done", job.work.kind, extra={"action": "job_done", "seconds": seconds})

    async def _do(self, job: jobs.Job) -> None:
        work, tools = job.work, self._tools
        if isinstance(work, jobs.InstallationChanged):
            await control.installation(job, work, tools)
        elif isinstance(work, jobs.RepositoryChanged):
            await control.repository(job, work, tools)
        elif isinstance(work, jobs.NoLongerDone):
            await self.store.jobs.settle(job, "no longer done")
        else:
            try:
                await self._run(job, work)
            except (errors.RefusedError, errors.StoppedError) as error:
                # The client waits for the result of an API run, so it receives the reason. Other jobs end silently.
                if isinstance(work, jobs.ApiRun):
                    await api_runs.refuse(job, work, str(error), tools)
                    return
                if isinstance(error, errors.SuspendedError):
                    raise
                if isinstance(error, errors.MissingPermissionError):
                    await note_missing(self.store, _repository_of(work), error)
                await self.store.jobs.settle(job, f"{type(error).__name__}: {error}")

    async def _run(self, job: jobs.Job, work: jobs.LearnPast | jobs.ApiRun | jobs.OnIssueWork) -> None:
        """Do a job in an accessible repository; record the limit if one prevents work on an issue."""
        installed = await self._installed(_repository_of(work))
        if isinstance(work, jobs.LearnPast):
            return await steps.learn(job, installed, self._tools)
        if isinstance(work, jobs.ApiRun):
            return await api_runs.api_run(job, work, installed, self._tools)
        # A job may be older than the current installation, and only the current installation's token works.
        ref = replace(work.ref, installation_id=installed.installation_id)
        issue_job = IssueJob.of(job, ref, self._tools)
        try:
            return await ON_ISSUE[type(work)](issue_job, work)
        except errors.RateLimitedError as limit:
            if limit.limit is not None:
                await issue_job.limit_reached(limit.limit, str(limit), count=False)
            raise

    async def _installed(self, ref: RepositoryRef) -> RepositoryRef:
        """Return the repository with its current installation; raises ``SuspendedError`` or ``GoneError``."""
        installations = self._tools.store.installations
        known = await installations.repository(ref.key)
        if known is None and ref.installation_id:
            await installations.add([ref])
            known = await installations.repository(ref.key)
        if known is None:
            raise errors.GoneError("no installation is known for the repository")
        if known.installation == "suspended":
            raise errors.SuspendedError("the installation is suspended")
        if known.gone or known.archived or known.installation == "deleted":
            raise errors.GoneError("the repository is archived, or the App was removed from it")
        return replace(ref, installation_id=known.installation_id or ref.installation_id)


@asynccontextmanager
async def open_worker(settings: ServerSettings) -> AsyncIterator[Worker]:
    """Open a worker with its tools, shared metrics and tracing."""
    async with open_tools(settings) as tools, sharing(tools.store.metrics):
        with tracing(settings.settings) as spans:
            yield Worker(tools, spans)
