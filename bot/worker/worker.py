"""Claims a job, prepares the repository, runs the graph, publishes the outcome and settles the job."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import assert_never

from bot.errors import (
    GoneError,
    JobTakenOverError,
    MissingPermissionError,
    RateLimitedError,
    RefusedError,
    RetryableError,
    StoppedError,
    SuspendedError,
)
from bot.jobs import (
    Alert,
    ApiRun,
    Commands,
    CommentDeleted,
    Continue,
    Edited,
    Ended,
    Expire,
    InstallationChanged,
    Job,
    JudgeLabels,
    Labelled,
    LearnPast,
    LeftOver,
    Notify,
    OnIssueWork,
    PageCommand,
    PostDigest,
    Remind,
    Reply,
    RepositoryChanged,
    Score,
    Triage,
    Typed,
)
from bot.observability.logs import log_context
from bot.observability.measures import JOB_SECONDS, JOBS, LIMITS
from bot.observability.metrics import sharing
from bot.observability.observer import tracing
from bot.observability.spans import Attributes, Spans
from bot.ports import RepositoryRef
from bot.settings.server import ServerSettings
from bot.store.jobs.queue import Jobs
from bot.store.tables import Store
from bot.worker import alerts, control, digests, outcomes
from bot.worker.commands.execute import page_command
from bot.worker.issue_job import IssueJob, note_missing
from bot.worker.runs import api_runs, lane, steps
from bot.worker.tools import Tools, open_tools
from bot.worker.upkeep import run_upkeep

__all__ = ["Worker", "open_worker"]

# Subclasses before their bases, because the first match counts.
_OUTCOMES: tuple[tuple[type[BaseException], str], ...] = (
    (RateLimitedError, "limited"),
    (RetryableError, "put_off"),
    (SuspendedError, "parked"),
    (JobTakenOverError, "taken_over"),
    (asyncio.CancelledError, "stopped"),
)

logger = logging.getLogger(__name__)


@contextlib.contextmanager
def instrumented(job: Job, spans: Spans) -> Iterator[None]:
    """Count and time an attempt, within its own span."""
    kind, started = job.work.kind, time.perf_counter()
    outcome = "failed"
    try:
        with spans.within(f"job {kind}", _named(job)):
            yield
        outcome = "done"
    except BaseException as error:
        outcome = next((name for kind_of, name in _OUTCOMES if isinstance(error, kind_of)), "failed")
        if isinstance(error, RetryableError) and error.limit is not None:
            LIMITS.labels(error.limit).inc()
        raise
    finally:
        JOBS.labels(kind, outcome).inc()
        JOB_SECONDS.labels(kind).observe(time.perf_counter() - started)


def _named(job: Job) -> Attributes:
    """Return the span attributes of a job. All are ids or fixed names: user text must not reach a trace."""
    return {
        "triage.job.kind": job.work.kind,
        "triage.job.id": job.id,
        "triage.job.attempt": job.attempt,
        "triage.delivery": job.delivery,
        "triage.issue": job.work.key,
    }


def _log_ids(job: Job) -> dict[str, object]:
    """Return what every log record of a job contains; the repository by its name, which is readable."""
    ids: dict[str, object] = {"delivery": job.delivery, "job": job.id, "issue": job.work.key}
    if isinstance(job.work, InstallationChanged):
        return ids
    ref = job.work.ref if isinstance(job.work.ref, RepositoryRef) else job.work.ref.repository
    return ids | {"repository": f"{ref.owner}/{ref.name}"}


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

    @property
    def jobs(self) -> Jobs:
        """The queue that jobs come from."""
        return self._tools.store.jobs

    def fault(self) -> str:
        """Return what keeps jobs from being done until an operator acts; empty if nothing does."""
        return self._tools.github.fault or self._tools.mirrors.fault()

    async def work(self, job: Job) -> None:
        """Do a job and settle it.

        Raises:
            BotError: The job cannot be done now, or not at all. The dispatcher decides from the type what follows.
        """
        started = time.perf_counter()
        with log_context(**_log_ids(job)), instrumented(job, self._spans):
            await self._do(job)
            seconds = round(time.perf_counter() - started, 3)
            logger.info("%s is done", job.work.kind, extra={"action": "job_done", "seconds": seconds})

    async def _do(self, job: Job) -> None:
        work = job.work
        if isinstance(work, InstallationChanged):
            await control.installation(job, work, self._tools)
        elif isinstance(work, RepositoryChanged):
            await control.repository(job, work, self._tools)
        elif isinstance(work, Notify):
            await alerts.send(job, work, self._tools)
        else:
            await self._run_if_allowed(job, work)

    async def _run_if_allowed(self, job: Job, work: LearnPast | ApiRun | OnIssueWork) -> None:
        try:
            await self._on_repository(job, work)
        except (RefusedError, StoppedError) as error:
            # The client waits for the result of an API run, so it receives the reason. Other jobs end silently.
            if isinstance(work, ApiRun):
                return await api_runs.refuse(job, work, str(error), self._tools)
            if isinstance(error, SuspendedError):
                raise
            if isinstance(error, MissingPermissionError):
                await note_missing(
                    self._tools.store, work.ref if isinstance(work, LearnPast) else work.ref.repository, error
                )
            await self.jobs.settle(job, f"{type(error).__name__}: {error}")

    async def _on_repository(self, job: Job, work: LearnPast | ApiRun | OnIssueWork) -> None:
        if isinstance(work, LearnPast):
            return await steps.learn(job, await self._installed(work.ref), self._tools)
        if isinstance(work, ApiRun):
            return await api_runs.api_run(job, work, await self._installed(work.ref), self._tools)
        installed = await self._installed(work.ref.repository)
        # A job may be older than the current installation, and only the current installation's token works.
        ref = replace(work.ref, installation_id=installed.installation_id)
        return await _on_issue(IssueJob.of(job, ref, self._tools), work)

    async def _installed(self, ref: RepositoryRef) -> RepositoryRef:
        """Return the repository with its current installation.

        Raises:
            SuspendedError: The installation is suspended.
            GoneError: No installation is known, or the repository was deleted, archived or removed from it.
        """
        installations = self._tools.store.installations
        known = await installations.repository(ref.key)
        if known is None and ref.installation_id:
            await installations.add([ref])
            known = await installations.repository(ref.key)
        if known is None:
            raise GoneError("no installation is known for the repository")
        if known.installation == "suspended":
            raise SuspendedError("the installation is suspended")
        if known.gone or known.archived or known.installation == "deleted":
            raise GoneError("the repository is archived, or the App was removed from it")
        return replace(ref, installation_id=known.installation_id or ref.installation_id)


async def _on_issue(issue_job: IssueJob, work: OnIssueWork) -> None:
    """Process a job about an issue; record the limit if one prevents it."""
    try:
        await _process(issue_job, work)
    except RateLimitedError as limit:
        if limit.limit is not None:
            await issue_job.limit_reached(limit.limit, str(limit))
        raise


async def _process(issue_job: IssueJob, work: OnIssueWork) -> None:  # noqa: PLR0912  a table
    # Not a dict: of a `match` the type checker reports a kind of work that has no case.
    match work:
        case Triage():
            await lane.triage(issue_job, work)
        case Edited():
            await lane.edited(issue_job, work)
        case Reply():
            await lane.reply(issue_job, work)
        case Continue():
            await lane.resume_run(issue_job, work)
        case Expire():
            await lane.expire(issue_job, work)
        case Remind():
            await lane.remind(issue_job, work)
        case Alert():
            await alerts.alert(issue_job, work)
        case PostDigest():
            await digests.post_digest(issue_job, work)
        case Commands():
            await control.commands(issue_job, work)
        case PageCommand():
            await page_command(issue_job, work)
        case LeftOver():
            await control.left_over(issue_job, work)
        case CommentDeleted():
            await control.comment_deleted(issue_job, work)
        case Ended():
            await control.ended(issue_job, work)
        case Score():
            await outcomes.score(issue_job, work)
        case Labelled():
            await control.labelled(issue_job, work)
        case Typed():
            await control.typed(issue_job, work)
        case JudgeLabels():
            await outcomes.judge_labels(issue_job, work)
        case _:
            assert_never(work)


@asynccontextmanager
async def open_worker(settings: ServerSettings) -> AsyncIterator[Worker]:
    """Open a worker with its tools, shared metrics and tracing."""
    async with open_tools(settings) as tools, sharing(tools.store.metrics):
        with tracing(settings.settings) as spans:
            yield Worker(tools, spans)
