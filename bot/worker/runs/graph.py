"""Run the graph for one issue: its context and start state, until a question is open or the run ends."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from langgraph.types import Durability
from pydantic import ValidationError

from bot.errors import BotError, RefusedError, RetryableError
from bot.limits.writes import FIRST_REPORTS
from bot.ports import Outcome
from bot.runs.code import EngineCode
from bot.runs.context import configured
from bot.runs.logs import ReadIssueText
from bot.runs.past import StoredPast
from bot.runs.promise import promise_of
from bot.runs.sources import OpenPulls
from bot.store.runs.issue_runs import Run
from bot.store.runs.run_events import RunEvents, Visit, dump
from bot.worker.budgets import run_scope
from bot.worker.issue_job import CurrentIssue, IssueJob, may_ask
from bot.worker.runs.code import renderer_for
from bot.worker.runs.conclude import publish
from bot.worker.runs.first import FirstReport, ModelBusyError
from nodes import run as graph_run
from nodes.brains.calls.budget import PostponedError
from nodes.context.brain import IssueOrigin
from nodes.context.ports import CodePort, Context, ExternalSources
from nodes.run import Step, Watch, initial_state
from nodes.state import MAX_REDIRECTS, Answer, BugTriageState, Waiting
from nodes.state.checkpoints import NewerSchemaError

PACE = 0.5
"""Seconds between two writes: a commit takes a few milliseconds, as long as most nodes of a run without a model."""
logger = logging.getLogger(__name__)


@asynccontextmanager
async def recording(events: RunEvents) -> AsyncIterator[Watch]:
    """Store the run's steps periodically and at the end. A failure to store them never stops a run."""
    recorder, over = _Recorder(events), asyncio.Event()
    writing = asyncio.create_task(recorder.keep_writing(over))
    try:
        yield recorder.note
    finally:
        over.set()
        await writing


class _Recorder:
    """Buffer of steps that are not stored yet. A node that begins and ends between two writes is written once."""

    def __init__(self, events: RunEvents) -> None:
        self._events = events
        self._began: dict[str, float] = {}
        self._waiting: dict[str, Visit] = {}

    def note(self, step: Step) -> None:
        """Buffer a step."""
        # The store's clock, because pages compare these times with those of other processes.
        now = self._events.clock()
        began = self._began.setdefault(step.id, now)
        # Moved to the end: readers expect ends in the order in which they happened.
        self._waiting.pop(step.id, None)
        self._waiting[step.id] = Visit(
            id=step.id[:8], node=step.node, began=began, ended=now if step.ended else None, trace=step.trace
        )

    async def keep_writing(self, over: asyncio.Event) -> None:
        """Write periodically until the run is over, then write the rest."""
        while not over.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(over.wait(), PACE)
            await self._write()
        await self._write()  # the steps that were noted during the write above, if the run ended then

    async def _write(self) -> None:
        """Write the buffer. If the store is unavailable, the steps are dropped and a page shows fewer."""
        # Taken before the await, because the graph adds steps while the store writes these.
        waiting, self._waiting = self._waiting, {}
        if not waiting:
            return
        try:
            await self._events.add(*map(dump, waiting.values()))
        except BotError as error:
            logger.warning("steps of a run were not stored: %s", error, extra={"action": "steps_lost"})


class UnresumableError(Exception):
    """A run's checkpoint is unreadable or its commit is gone: a new run starts from what the store has."""


async def run_graph(issue_job: IssueJob, seen: CurrentIssue, run: Run, code: CodePort, text: ReadIssueText) -> Outcome:
    """Advance the run, with a first report by rules if the model takes long."""
    promise = promise_of(seen.found.config, (await issue_job.store.report_inputs()).standing.scored)
    context = replace(_context(issue_job, seen, run, code, text), claim_from=promise.claim_from)
    notes = (*await _dropped_run_note(issue_job, run, code), *text.notes, *filter(None, (promise.note,)))
    start = await _start(issue_job, seen, context, notes)
    # A first report is a comment, so without comments there is none.
    if seen.found.config.mode != "comment":
        return await _advance_until_question(issue_job, seen, run, context, start)
    first = FirstReport(
        issue_job,
        run,
        context,
        start,
        lambda report: publish(issue_job, seen, run, report, first=True),
        lambda: issue_job.check_writes_paused(seen.found, FIRST_REPORTS),
    )
    return await first.run_alongside(lambda: _advance_until_question(issue_job, seen, run, context, start))


async def _advance_until_question(
    issue_job: IssueJob, seen: CurrentIssue, run: Run, context: Context, start: BugTriageState
) -> Outcome:
    """Advance until a question is open. An answer that is already in the store resumes the run at once.

    Raises:
        UnresumableError: The run's checkpoint cannot be read.
        JobTakenOverError: Another attempt ended the run.
        ModelBusyError: The model has no capacity now.
        RetryableError: A newer release saved the run.
    """
    graph, thread = issue_job.tools.graph, issue_job.store.thread(run.number)
    try:
        snapshot = await graph.aget_state({"configurable": {"thread_id": thread}})
    except NewerSchemaError as error:
        # A worker of that release resumes the run; a new run here would lose the answers.
        raise RetryableError(str(error)) from error
    except (ValidationError, ValueError, TypeError, KeyError) as error:
        raise UnresumableError(f"the checkpoint of {thread} cannot be read: {type(error).__name__}") from error

    async def ask(waiting: Waiting) -> Answer | None:
        return await _known_answer(issue_job, seen, run, waiting)

    # Steps are recorded outside of the graph, so a page shows the run although nothing is checkpointed until it ends.
    async with recording(issue_job.store.events(run.number)) as watch:
        try:
            return await graph_run.advance(
                graph, context, thread, start, ask, watch=watch, snapshot=snapshot, durability=_durability(context)
            )
        except graph_run.ThreadDeletedError:
            await issue_job.check_ownership()
            raise
        except PostponedError as postponed:
            raise ModelBusyError(str(postponed), after=postponed.after, limit=None) from postponed


def _durability(context: Context) -> Durability:
    """Return when to write checkpoints.

    "sync" (at each step) if a step may cost a call; else "exit": repeating a run by rules is cheaper than storing its
    steps.
    """
    may_cost = context.brain is not context.rules or context.outside.infos
    return "sync" if may_cost else "exit"


async def _known_answer(issue_job: IssueJob, seen: CurrentIssue, run: Run, waiting: Waiting) -> Answer | None:
    """Return the answer to a run's question; None while it is open.

    A question that cannot be posted, or is over budget, is withdrawn and has an empty answer.
    """
    questions, key = issue_job.store.repository.questions, issue_job.ref.key
    config = seen.found.config
    was_asked = any(question.question_id == waiting.exchange.question_id for question in await questions.all(key))
    asked = await questions.ask(key, waiting.exchange)
    # A question that the reporter cannot see would never be answered.
    unseen = config.mode != "comment" or asked.slot > config.limits.questions
    budget = run_scope(issue_job.store.thread(run.number), issue_job.tools.budgets.run)
    if asked.state == "open" and (unseen or not (was_asked or await may_ask(issue_job, budget))):
        await questions.settle(key, asked.question_id, "withdrawn")
        return Answer()
    if asked.state == "open":
        return None
    return Answer(text=asked.answer, answered_by=asked.answered_by, url=asked.answer_url)


def _context(issue_job: IssueJob, seen: CurrentIssue, run: Run, code: CodePort, text: ReadIssueText) -> Context:
    issue, tools, config = seen.issue, issue_job.tools, seen.found.config
    store = issue_job.store
    budget = tools.budget(store.thread(run.number), issue_job.ref.repository, issue_job.count_limit_reached)
    parts = Context(
        title=issue.title,
        body=text.body,
        code=code,
        evidence=store.evidence(run.number),
        brain=tools.brains.for_run(config, budget),
        rules=tools.brains.rules,
        signals=store.signals,
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


async def _dropped_run_note(issue_job: IssueJob, run: Run, code: CodePort) -> tuple[str, ...]:
    """Return the report's note on the previous run, if that was dropped because its commit left the branch."""
    before = await issue_job.store.runs.before(run.number)
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
            "human_exchanges": await issue_job.store.repository.questions.exchanges(issue_job.ref.key),
            "redirect_instructions": tuple(signal.instruction for signal in signals)[-MAX_REDIRECTS:],
            "last_signal": signals[-1].number if signals else 0,
        }
    )
