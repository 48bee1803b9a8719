"""Posts a first report by rules if the model's report takes more than a minute. The model's report replaces it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Final

from bot.errors import BotError, JobTakenOverError, RateLimitedError
from bot.ports import Outcome
from bot.runs.context import InMemoryEvidence, NoSignals, run_to_completion
from bot.store.databases.database import StoreError
from bot.store.runs.issue_runs import Run
from bot.worker.issue_job import IssueJob
from nodes.context.ports import Context, ExternalSources
from nodes.state import BugTriageState, Finished

PATIENCE: Final = 60.0
"""Seconds from the start of a run to its first report."""


class ModelBusyError(RateLimitedError):
    """The run waits for its turn to call the model, or for the model's server."""


@dataclass(frozen=True, slots=True)
class FirstReport:
    """The first report of one run.

    It is posted as the issue's one report, so that the model's report edits it. A crash in between leaves the job
    unsettled: the next attempt continues the run and edits the report.
    """

    issue_job: IssueJob
    run: Run
    context: Context
    """The context of the model's run."""
    start: BugTriageState
    publish: Callable[[Finished], Awaitable[object]]
    check_writes_paused: Callable[[], Awaitable[None]]
    """Raises RateLimitedError while GitHub accepts no writes."""

    async def run_alongside(self, work: Callable[[], Awaitable[Outcome]]) -> Outcome:
        """Do the model's run; post the first report as soon as the run is known to take longer than a minute.

        Raises:
            ModelBusyError: The run continues later. The first report is posted if the wait exceeds the time left.
        """
        if self.context.brain is self.context.rules or await self._is_posted():
            return await work()
        task = asyncio.ensure_future(work())
        try:
            # asyncio.wait and not wait_for, which would cancel the model's run at the timeout.
            await asyncio.wait({task}, timeout=max(self._left(), 0.0))
            if not task.done():
                await self._post()
            return await task
        except ModelBusyError as error:
            if self._left() < (error.after or 0.0):
                await self._post()
            raise
        finally:
            # If this attempt is cancelled, the model's run ends before the job is freed, so that two attempts never
            # overlap.
            task.cancel()
            await asyncio.wait({task})
            if not task.cancelled():
                task.exception()  # marks it as retrieved; asyncio would log it as an error otherwise

    async def _is_posted(self) -> bool:
        """Return whether the issue has a report. An older report by a model is better than a new one by rules."""
        sticky = await self.issue_job.store.repository.effects.get(self.issue_job.ref.key, "sticky")
        return sticky is not None and sticky.github_id is not None

    async def _is_paused(self) -> bool:
        """Return whether GitHub accepts no writes. A run by rules would then read and compute for nothing."""
        try:
            await self.check_writes_paused()
        except RateLimitedError as error:
            self.issue_job.log("writes_paused", f"no report by rules yet: {error}")
            return True
        return False

    def _left(self) -> float:
        """Return the seconds until a report is due; negative if it is overdue."""
        return self.run.began_at + PATIENCE - self.issue_job.tools.store.clock()

    async def _post(self) -> None:
        """Run by rules and post. A failure is logged, because the model's report follows in any case."""
        if await self._is_posted() or await self._is_paused():
            return
        # The store contains the evidence of the model's run under the same number; this run's evidence stays in memory.
        rules_context = replace(
            self.context,
            brain=self.context.rules,
            evidence=InMemoryEvidence(),
            signals=NoSignals(),
            outside=ExternalSources(),
        )
        try:
            await self.publish(Finished(await run_to_completion(rules_context, self.start)))
        # Without the job or the store the model's run cannot continue either.
        except (JobTakenOverError, StoreError):
            raise
        except BotError as error:
            self.issue_job.log("first_report_failed", str(error))
        else:
            self.issue_job.log("first_report", "posted by rules; the model's report follows")
