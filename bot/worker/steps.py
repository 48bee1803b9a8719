"""One step of a run: advance it from its checkpoint until it waits or ends, publish the outcome, settle the job."""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from langgraph.types import Durability
from pydantic import ValidationError

from bot.errors import (
    GoneError,
    MissingPermissionError,
    RefusedError,
    RetryableError,
    StoppedError,
    SuspendedError,
)
from bot.jobs import Continue, Expire, LeftOver, Triage, Work
from bot.logs import add_log_context
from bot.metrics.measures import LIMITS
from bot.mirrors import ForbiddenError
from bot.past import StoredPast
from bot.ports import Finished, Issue, Outcome, Waiting, Withheld
from bot.publish import Publication, Published
from bot.publish.publisher import Why
from bot.repo_config import FoundConfig, RepositoryConfig
from bot.report.document import build_result
from bot.report.markdown import MarkdownRenderer
from bot.report.record import read_record
from bot.runs.code import EngineCode, NoCode
from bot.store.runs import Ending, Run, RunStatus
from bot.store.runs.outcomes import Reported
from bot.worker.admission import explain_refusal, may_ask
from bot.worker.budgets import SharedBudget, run_scope
from bot.worker.first import FirstReport, ModelBusyError
from bot.worker.issue_job import IssueJob, body_hash
from bot.worker.past import start_learning
from bot.worker.recorder import recording
from nodes import run as graph_run
from nodes.brains.budget import PostponedError
from nodes.checkpoints import NewerSchemaError
from nodes.context import CodePort, Context, Outside
from nodes.facts import read_facts
from nodes.run import Watch, advance, initial_state
from nodes.state import MAX_REDIRECTS, Answer, BugTriageState
from nodes.statement import without_facts
from nodes.trust.secrets import holds_token, mask

logger = logging.getLogger(__name__)

_STATUS: dict[str, RunStatus] = {"quiet": "stopped", "moved": "failed"}
"""Status of a run whose publication wrote nothing.

"moved" is a failure, because the run left nothing at the issue's new place: a new run starts there.
"""
_TRIES_TO_READ = 5
"""Attempts, over half a minute, before a repository that refuses access is reported on without its code."""
_LATE_WITHOUT_CODE = 2
"""Attempts that exceeded the deadline, after which the next one reports without reading the code."""


@dataclass(frozen=True, slots=True)
class CurrentIssue:
    """The issue as it is now, its repository's configuration, and the reason for the run."""

    issue: Issue
    found: FoundConfig
    why: Why
    commanded: bool = False
    """A person's command started the run."""
    asked_in: int | None = None
    """Id of the comment with that command."""


class UnresumableError(Exception):
    """A run's checkpoint is unreadable or its commit is gone: a new run starts from what the store has."""


async def step(issue_job: IssueJob, seen: CurrentIssue, run: Run) -> None:
    """Advance a run until it waits or ends, publish the outcome and settle the job."""
    add_log_context(run=run.number)
    if holds_token(f"{seen.issue.title}\n{seen.issue.body}"):
        await _withhold(issue_job, seen, run)
        return
    await start_learning(issue_job, seen.found.config)
    async with _code(issue_job, seen, run) as code:
        try:
            run = await _pin(issue_job, seen, run, code)
            outcome = await _outcome(issue_job, seen, run, code)
        except UnresumableError as error:
            issue_job.log("run_begun_anew", str(error))
            run = await _pin(issue_job, seen, await issue_job.store.runs.give_up(run.number), code)
            outcome = await _outcome(issue_job, seen, run, code)
        outcome = await _rechecked(issue_job, seen, outcome, code)
        await _note_shortfalls(issue_job, code)
    await _conclude(issue_job, seen, run, outcome)


async def _withhold(issue_job: IssueJob, seen: CurrentIssue, run: Run) -> None:
    """Conclude without analysis, because the issue shows a secret. An edit of the issue starts triage again."""
    await issue_job.store.runs.pin(
        run.number, sha="", brain="rules", config_hash="", body_hash=body_hash(seen.issue), title=_title(seen.issue)
    )
    await _conclude(issue_job, seen, run, Withheld())


@asynccontextmanager
async def _code(issue_job: IssueJob, seen: CurrentIssue, run: Run) -> AsyncIterator[CodePort]:
    """Open the repository at the run's commit; if it cannot be read, yield `NoCode`, so that a report is still written.

    Raises:
        SuspendedError: The installation is suspended.
        ForbiddenError: GitHub refuses access, and too few attempts were made to give up.
        RetryableError: git finds no commit although GitHub has some.
    """
    config = seen.found.config
    if issue_job.job.late >= _LATE_WITHOUT_CODE:
        issue_job.log("code_not_readable", "reading the code timed out twice")
        yield NoCode()
        return
    async with AsyncExitStack() as stack:
        try:
            mirror = await stack.enter_async_context(
                issue_job.tools.mirrors.ready(issue_job.ref.repository, issue_job.github)
            )
        except SuspendedError:
            raise
        except (RefusedError, ForbiddenError) as error:
            # GitHub answers git with 403 for a limit as well as for a refusal, so only a repeated one counts.
            if isinstance(error, ForbiddenError) and issue_job.job.tried < _TRIES_TO_READ:
                raise
            # git mistakes a proxy's page for an empty repository, so GitHub's API is asked too.
            if isinstance(error, GoneError) and not await issue_job.github.is_empty():
                raise RetryableError("git found no commit, but GitHub has some") from error
            issue_job.log("code_not_readable", str(error))
            if isinstance(error, MissingPermissionError):
                await issue_job.record_missing_permission(error)
            yield NoCode.because(error)
            return
        # A force push leaves the old object in the mirror for a while, so the branch must reach the commit.
        sha = run.sha if run.sha and await mirror.contains(run.sha) else mirror.sha
        yield EngineCode(issue_job.tools.engines.of(mirror.directory), sha, config.ignore_paths)


async def _rechecked(issue_job: IssueJob, seen: CurrentIssue, outcome: Outcome, code: CodePort) -> Outcome:
    """Look every fact up again before it is published, since a run may wait for days; drop what does not hold."""
    report = outcome.state.report if isinstance(outcome, Finished) else None
    if not isinstance(outcome, Finished) or report is None or not report.facts or not isinstance(code, EngineCode):
        return outcome
    state = outcome.state
    answers = (exchange.answer or "" for exchange in state.human_exchanges)
    text = "\n".join((seen.issue.title, seen.issue.body, *state.redirect_instructions, *answers))
    gone = await code.broken(report.facts, text)
    if not gone:
        return outcome
    issue_job.log("facts_dropped", f"{len(gone)} of {len(report.facts)} facts no longer hold")
    plain = without_facts(report, gone)
    renderer = _renderer(seen.issue)
    drafts = {"github_comment": renderer.comment(plain), "ticket": renderer.ticket(plain)}
    return Finished(state.model_copy(update={"report": plain.model_copy(update=drafts)}))


async def _note_shortfalls(issue_job: IssueJob, code: CodePort) -> None:
    """Record which limits left files unread because the repository is too large; a later report tells it once."""
    for limit in code.unreported_limits() if isinstance(code, EngineCode) else ():
        LIMITS.labels(limit).inc()
        await issue_job.store.repository.limited.note(limit)


async def _pin(issue_job: IssueJob, seen: CurrentIssue, run: Run, code: CodePort) -> Run:
    """Record the commit, the brain and the configuration that the run uses.

    Raises:
        UnresumableError: The commit that the run began with is gone.
    """
    if run.sha and run.sha != code.sha:
        raise UnresumableError(f"commit {run.sha[:12]} is gone")
    await issue_job.store.runs.pin(
        run.number,
        sha=code.sha,
        brain=issue_job.tools.brains.for_run(seen.found.config).name,
        config_hash=seen.found.digest,
        body_hash=body_hash(seen.issue),
        title=_title(seen.issue),
    )
    return run


def _title(issue: Issue) -> str:
    """The title for pages and their search: secrets masked, at most 300 characters."""
    return " ".join(mask(issue.title).split())[:300]


async def _outcome(issue_job: IssueJob, seen: CurrentIssue, run: Run, code: CodePort) -> Outcome:
    """Advance the run, with a first report by rules if the model takes long."""
    context = _context(issue_job, seen, run, code)
    start = await _start(issue_job, seen, context, await _dropped_run_note(issue_job, run, code))
    if seen.found.config.mode != "comment":
        return await _advance_until_question(issue_job, seen, run, context, start)
    first = FirstReport(
        issue_job, run, context, start, lambda report: _publish(issue_job, seen, run, report, first=True)
    )
    return await first.run_alongside(lambda: _advance_until_question(issue_job, seen, run, context, start))


async def _advance_until_question(
    issue_job: IssueJob, seen: CurrentIssue, run: Run, context: Context, start: BugTriageState
) -> Outcome:
    """Advance until a question is open. An answer that is already in the store resumes the run at once."""
    thread = issue_job.store.thread(run.number)
    async with recording(issue_job.store.events(run.number)) as watch:
        result = await _advance(issue_job, context, thread, start, watch)
        while isinstance(result, graph_run.Waiting):
            answer = await _known_answer(issue_job, seen, run, result)
            if answer is None:
                return Waiting(result.state, result.exchange)
            question = result.exchange.question_id
            result = await _advance(issue_job, context, thread, start, watch, answer=answer, question_id=question)
        return Finished(result.state)


async def _advance(
    issue_job: IssueJob,
    context: Context,
    thread: str,
    start: BugTriageState,
    watch: Watch,
    *,
    answer: Answer | None = None,
    question_id: str | None = None,
) -> graph_run.Waiting | graph_run.Finished:
    graph = issue_job.tools.graph
    try:
        stands = await graph.aget_state({"configurable": {"thread_id": thread}})
    except (NewerSchemaError, ValidationError, ValueError, TypeError, KeyError) as error:
        raise UnresumableError(f"the checkpoint of {thread} cannot be read: {type(error).__name__}") from error
    try:
        return await advance(
            graph,
            context,
            thread,
            start,
            answer=answer,
            question_id=question_id,
            watch=watch,
            snapshot=stands,
            durability=_durability(context),
        )
    except PostponedError as postponed:
        raise ModelBusyError(str(postponed), after=postponed.after, limit=None) from postponed


def _durability(context: Context) -> Durability:
    """When to write checkpoints.

    "sync" (at each step) if a step may cost a call; else "exit": repeating a run by rules is cheaper than storing its
    steps.
    """
    asks = context.brain is not context.rules or context.outside.infos
    return "sync" if asks else "exit"


async def _known_answer(issue_job: IssueJob, seen: CurrentIssue, run: Run, waiting: graph_run.Waiting) -> Answer | None:
    """The answer to a run's question; None while it is open.

    A question that cannot be posted, or is over budget, is withdrawn and has an empty answer.
    """
    questions, key = issue_job.store.repository.questions, issue_job.ref.key
    config = seen.found.config
    known = any(one.question_id == waiting.exchange.question_id for one in await questions.all(key))
    asked = await questions.ask(key, waiting.exchange)
    unseen = config.mode != "comment" or asked.slot > config.limits.questions
    budget = run_scope(issue_job.store.thread(run.number), issue_job.tools.budgets.run)
    if asked.state == "open" and (unseen or not (known or await may_ask(issue_job, budget, config))):
        await questions.settle(key, asked.question_id, "withdrawn")
        return Answer()
    if asked.state == "open":
        return None
    return Answer(text=asked.answer, answered_by=asked.answered_by, url=asked.answer_url)


def _context(issue_job: IssueJob, seen: CurrentIssue, run: Run, code: CodePort) -> Context:
    issue, tools, config = seen.issue, issue_job.tools, seen.found.config
    return Context(
        title=issue.title,
        body=issue.body,
        code=code,
        evidence=issue_job.store.evidence(run.number),
        brain=tools.brains.for_run(config, _budget(issue_job, run, config)),
        rules=tools.brains.rules,
        signals=issue_job.store.signals,
        renderer=_renderer(issue),
        facts=read_facts(issue.title, issue.body),
        language=config.language,
        claim_from=config.limits.claim_from,
        outside=tools.sources.outside(issue_job.github.search_issues) if config.outside else Outside(),
        past=StoredPast(issue_job.store.repository.past, issue_job.github, issue_job.ref)
        if config.earlier_issues
        else None,
    )


def _renderer(issue: Issue) -> MarkdownRenderer:
    server = issue.url.partition(f"/{issue.ref.owner}/")[0] or f"https://{issue.ref.host}"
    return MarkdownRenderer(server_url=server, repository=f"{issue.ref.owner}/{issue.ref.name}")


def _budget(issue_job: IssueJob, run: Run, config: RepositoryConfig) -> SharedBudget:
    store, budgets = issue_job.tools.store, issue_job.tools.budgets
    return SharedBudget(
        run=run_scope(issue_job.store.thread(run.number), budgets.run),
        day=budgets.day(issue_job.ref.repository, config, store.clock()),
        counters=store.usage,
        pace=issue_job.tools.pace,
        prices=budgets.prices,
        limited=issue_job.count_limit_reached,
    )


async def _dropped_run_note(issue_job: IssueJob, run: Run, code: CodePort) -> tuple[str, ...]:
    """The report's note on the previous run, if that was dropped because its commit left the branch."""
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
    """Initial state of a run, with all answers, redirects and corrections that people gave to earlier runs."""
    issue = seen.issue
    signals = [one for one in await issue_job.store.signals.since(0) if one.kind in ("redirect", "correction")]
    repository = f"{issue.ref.owner}/{issue.ref.name}"
    sha, outside = context.code.sha, context.outside
    state = initial_state(issue.title, issue.body, repository=repository, sha=sha, outside=outside, notes=notes)
    return state.model_copy(
        update={
            "human_exchanges": await issue_job.store.repository.questions.exchanges(issue_job.ref.key),
            "redirect_instructions": tuple(signal.instruction for signal in signals)[-MAX_REDIRECTS:],
            "last_signal": signals[-1].number if signals else 0,
        }
    )


async def _conclude(issue_job: IssueJob, seen: CurrentIssue, run: Run, outcome: Outcome) -> None:
    """Publish, then store the run's status and settle the job in one transaction."""
    began = time.perf_counter()
    try:
        # Published before it is settled: after a crash in between, the next attempt publishes again, and markers and
        # stored intents prevent a second comment.
        published = await _publish(issue_job, seen, run, outcome)
    except StoppedError as error:
        # Unless the issue itself ended, a person stopped triage or deleted our comment: mute it from now on.
        if (await issue_job.store.row.state()).ended is None:
            await issue_job.store.row.mute(muted=True)
        published = Published("quiet", str(error))
    except SuspendedError:
        raise  # a RefusedError too, but the job is parked until the installation is active again
    except RefusedError as error:
        if isinstance(error, MissingPermissionError):
            await issue_job.record_missing_permission(error)
        published = Published("quiet", f"refused: {error}")
    if published.state == "quiet":
        await explain_refusal(issue_job, seen.found, seen.asked_in, f"No comment was written: {published.reason}.")
    await _settle(issue_job, run, outcome, published, await issue_job.pending_writes(seen.found))
    issue_job.log("run_published", f"{published.state} {published.reason} after {time.perf_counter() - began:.2f} s")


async def _publish(
    issue_job: IssueJob, seen: CurrentIssue, run: Run, outcome: Outcome, *, first: bool = False
) -> Published:
    known = await issue_job.store.report_inputs()
    # Limits are reported only where comments are allowed, once per repository and day.
    tells = known.limited and seen.found.config.mode == "comment"
    given = Publication(
        issue_job.ref,
        run.number,
        outcome,
        seen.found,
        known.questions,
        touched=known.touched,
        why=seen.why,
        relations=known.relations,
        record=read_record(known.outcomes),
        commanded=seen.commanded,
        limited=await issue_job.store.repository.limited.unreported(issue_job.ref.key) if tells else (),
        first=first,
    )
    return await issue_job.publisher().publish(given)


async def _settle(
    issue_job: IssueJob, run: Run, outcome: Outcome, published: Published, left_over: tuple[LeftOver, ...]
) -> None:
    """Store the run's status and settle the job.

    The checkpoint of a run that ended is deleted: the store has its result and what people wrote.
    """
    quiet = published.state in ("quiet", "moved")
    if isinstance(outcome, Waiting) and not quiet:
        expire = Expire(ref=issue_job.ref, question_id=outcome.exchange.question_id)
        await issue_job.store.runs.settle(
            run.number,
            "waiting",
            issue_job.job,
            last_signal=outcome.state.last_signal,
            message=published.state,
            next_work=(expire, *left_over),
            unread=lambda: Continue(ref=issue_job.ref),
        )
        return
    await issue_job.store.runs.settle(
        run.number,
        _STATUS.get(published.state, "finished"),
        issue_job.job,
        last_signal=outcome.state.last_signal if isinstance(outcome, Waiting | Finished) else 0,
        result=build_result(outcome.state).model_dump_json() if isinstance(outcome, Finished) else None,
        reported=_reported(outcome) if not quiet else None,
        ending=_ending(outcome),
        message=f"{published.state} {published.reason}".strip(),
        next_work=(*_triage_after_transfer(issue_job, published), *left_over),
        unread=None if quiet else lambda: Continue(ref=issue_job.ref),
    )
    # After settling, as the next attempt would need the checkpoint. `prune` deletes it if a kill comes in between.
    await issue_job.tools.checkpoints.adelete_thread(issue_job.store.thread(run.number))


def _reported(outcome: Outcome) -> Reported | None:
    report = outcome.state.report if isinstance(outcome, Finished) else None
    if report is None:
        return None
    named = tuple(dict.fromkeys(suspect.path for suspect in report.suspects))
    return Reported(report.root_cause is not None, report.confidence if named else 0.0, named)


def _ending(outcome: Outcome) -> Ending | None:
    report = outcome.state.report if isinstance(outcome, Finished) else None
    return Ending(report.kind, report.root_cause is not None, report.confidence) if report else None


def _triage_after_transfer(issue_job: IssueJob, published: Published) -> tuple[Work, ...]:
    """Triage of an issue at its new place, if it was moved during the run."""
    if published.moved_to is None:
        return ()
    return (Triage(ref=published.moved_to, why="opened", moved_from=issue_job.ref.key),)
