"""Run the graph for one issue until a question is open or the run ends, with a first report by rules if it is slow."""

import asyncio
from dataclasses import dataclass, replace
from typing import Final

from pydantic import ValidationError

from bot.errors import BotError, JobTakenOverError, RateLimitedError, RefusedError, RetryableError
from bot.limits.writes import FIRST_REPORTS
from bot.ports import Outcome
from bot.runs.code import EngineCode
from bot.runs.context import InMemoryEvidence, configured, run_to_completion
from bot.runs.logs import ReadIssueText
from bot.runs.past import StoredPast
from bot.runs.promise import promise_of
from bot.runs.sources import OpenPulls
from bot.store.databases.database import StoreError
from bot.store.runs.rows import ListedRun
from bot.store.runs.run_events import recording
from bot.worker.budgets import run_scope
from bot.worker.issue_job import CurrentIssue, IssueJob, may_ask
from bot.worker.runs.code import renderer_for
from bot.worker.runs.conclude import publish
from nodes import run as graph_run
from nodes.brains.calls.budget import PostponedError
from nodes.context.brain import IssueOrigin
from nodes.context.ports import CodePort, Context, ExternalSources
from nodes.limits import MAX_REDIRECTS
from nodes.run import initial_state
from nodes.state import Answer, BugTriageState, Finished, Waiting
from nodes.state.checkpoints import NewerSchemaError

FIRST_REPORT_WITHIN: Final = 60.0
"""Seconds from the start of a run to its first report."""


class UnresumableError(Exception):
    """A run's checkpoint is unreadable or its commit is gone: a new run starts from what the store has."""


class ModelBusyError(RateLimitedError):
    """The run waits for its turn to call the model, or for the model's server."""


async def run_graph(
    issue_job: IssueJob, seen: CurrentIssue, run: ListedRun, code: CodePort, text: ReadIssueText
) -> Outcome:
    """Advance the run until a question is open or it ends.

    Raises ``UnresumableError``, ``ModelBusyError``, ``JobTakenOverError``; ``RetryableError`` for a newer one's run.
    """
    promise = promise_of(seen.found.config, (await issue_job.store.report_inputs()).standing.scored)
    context = replace(_context(issue_job, seen, run, code, text), claim_from=promise.claim_from)
    notes = (*await _dropped_run_note(issue_job, run, code), *text.notes, *filter(None, (promise.note,)))
    graph = _GraphRun(issue_job, seen, run, context, await _start(issue_job, seen, context, notes))
    # A first report is a comment, and an older report by a model is better than a new one by rules.
    by_rules = context.brain is context.rules or seen.found.config.mode != "comment"
    return await (graph.advance() if by_rules or await graph.is_posted() else graph.with_first_report())


@dataclass(frozen=True, slots=True)
class _GraphRun:
    """One step of a run.

    A first report by rules is posted as the issue's one report, so that the model's report edits it. A crash in between
    leaves the job unsettled: the next attempt continues the run and edits the report.
    """

    issue_job: IssueJob
    seen: CurrentIssue
    run: ListedRun
    context: Context
    start: BugTriageState

    async def advance(self) -> Outcome:
        """Advance until a question is open. An answer that is already in the store resumes the run at once."""
        issue_job = self.issue_job
        graph, thread = issue_job.tools.graph, issue_job.store.thread(self.run.number)
        try:
            snapshot = await graph.aget_state({"configurable": {"thread_id": thread}})
        except NewerSchemaError as error:
            # A worker of that release resumes the run; a new run here would lose the answers.
            raise RetryableError(str(error)) from error
        except (ValidationError, ValueError, TypeError, KeyError) as error:
            raise UnresumableError(f"the checkpoint of {thread} cannot be read: {type(error).__name__}") from error
        # Steps are recorded outside of the graph, so a page shows the run although nothing is checkpointed until it
        # ends.
        async with recording(issue_job.store.events(self.run.number)) as watch:
            try:
                return await graph_run.advance(
                    graph, self.context, thread, self.start, self._known_answer, watch=watch, snapshot=snapshot
                )
            except graph_run.ThreadDeletedError:
                await issue_job.check_ownership()
                raise
            except PostponedError as postponed:
                raise ModelBusyError(str(postponed), after=postponed.after, limit=None) from postponed

    async def _known_answer(self, waiting: Waiting) -> Answer | None:
        """Return the answer to the question; None while it is open. One that cannot be posted gets an empty one."""
        issue_job, config = self.issue_job, self.seen.found.config
        questions = issue_job.store.questions
        was_asked = any(question.question_id == waiting.exchange.question_id for question in await questions.all())
        asked = await questions.ask(waiting.exchange)
        # A question that the reporter cannot see would never be answered.
        unseen = config.mode != "comment" or asked.slot > config.limits.questions
        budget = run_scope(issue_job.store.thread(self.run.number), issue_job.tools.budgets.run)
        if asked.state == "open" and (unseen or not (was_asked or await may_ask(issue_job, budget))):
            await questions.settle(asked.question_id, "withdrawn")
            return Answer()
        if asked.state == "open":
            return None
        return Answer(text=asked.answer, answered_by=asked.answered_by, url=asked.answer_url)

    async def with_first_report(self) -> Outcome:
        """Do the model's run; post the first report as soon as the run is known to take longer than a minute."""
        task = asyncio.create_task(self.advance())
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

    async def is_posted(self) -> bool:
        """Return whether the issue has a report."""
        return await self.issue_job.store.effects.comment_id("sticky") is not None

    def _left(self) -> float:
        """Return the seconds until a report is due; negative if it is overdue."""
        return self.run.began_at + FIRST_REPORT_WITHIN - self.issue_job.tools.store.clock()

    async def _post(self) -> None:
        """Run by rules and post. A failure is logged, because the model's report follows in any case."""
        if await self.is_posted():
            return
        # The store contains the evidence of the model's run under the same number; this run's evidence stays in memory.
        rules, evidence = self.context.rules, InMemoryEvidence()
        context = replace(self.context, brain=rules, evidence=evidence, signals=None, outside=ExternalSources())
        try:
            # While GitHub accepts no writes, a run by rules would read and compute for nothing.
            await self.issue_job.check_writes_paused(self.seen.found, FIRST_REPORTS)
            outcome = Finished(await run_to_completion(context, self.start))
            await publish(self.issue_job, self.seen, self.run, outcome, first=True)
        # Without the job or the store the model's run cannot continue either.
        except (JobTakenOverError, StoreError):
            raise
        except BotError as error:
            self.issue_job.log("first_report_failed", str(error))
        else:
            self.issue_job.log("first_report", "posted by rules; the model's report follows")


def _context(issue_job: IssueJob, seen: CurrentIssue, run: ListedRun, code: CodePort, text: ReadIssueText) -> Context:
    issue, tools, config = seen.issue, issue_job.tools, seen.found.config
    store = issue_job.store
    budget = tools.budget(store.thread(run.number), issue_job.ref.repository, issue_job.limit_reached)
    parts = Context(
        title=issue.title,
        body=text.body,
        code=code,
        evidence=store.evidence(run.number),
        brain=tools.brains.for_run(config, budget),
        rules=tools.brains.rules,
        signals=store.signals.unread,
        renderer=renderer_for(issue),
        outside=tools.sources.outside(issue_job.github.search_issues) if config.outside else ExternalSources(),
        past=StoredPast(store.repository.past, issue_job.github, issue_job.ref),
        labels=lambda: _known_labels(issue_job),
        origin=IssueOrigin.of(
            issue.ref.number, f"{issue.ref.owner}/{issue.ref.name}", issue.created_at, reopened=issue.reopened
        ),
        pulls=OpenPulls(issue_job.github, str(issue.ref.installation_id)),
        attached=text.attached,
    )
    return configured(parts, config)


async def _known_labels(issue_job: IssueJob) -> frozenset[str]:
    """Return the repository's labels; none if GitHub refuses them, because the report does not depend on them."""
    try:
        return await issue_job.github.repository_labels()
    except RefusedError:
        return frozenset()


async def _dropped_run_note(issue_job: IssueJob, run: ListedRun, code: CodePort) -> tuple[str, ...]:
    """Return the report's note on the previous run, if that was dropped because its commit left the branch."""
    before = await issue_job.store.runs.last(run.number)
    if before is None or before.status != "failed" or not before.sha or not isinstance(code, EngineCode):
        return ()
    if await code.follows(before.sha):
        return ()
    return (
        f"Commit {before.sha[:12]}, which was searched first, is no longer on the default branch. "
        f"Its results were dropped, and {code.sha[:12]} was searched instead.",
    )


async def _start(issue_job: IssueJob, seen: CurrentIssue, context: Context, notes: tuple[str, ...]) -> BugTriageState:
    """Return the initial state of a run, with all answers, redirects and corrections of earlier runs."""
    issue = seen.issue
    signals = [item for item in await issue_job.store.signals.since(0) if item.kind in ("redirect", "correction")]
    repository = f"{issue.ref.owner}/{issue.ref.name}"
    sha, outside = context.code.sha, context.outside
    state = initial_state(issue.title, context.body, repository=repository, sha=sha, outside=outside, notes=notes)
    return state.model_copy(
        update={
            "human_exchanges": await issue_job.store.questions.exchanges(),
            "redirect_instructions": tuple(signal.instruction for signal in signals)[-MAX_REDIRECTS:],
            "last_signal": signals[-1].number if signals else 0,
        }
    )
