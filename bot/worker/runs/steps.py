"""One step of a job in the run lane, and the index of earlier issues, which each step updates."""

from bot.errors import BotError, SuspendedError
from bot.jobs import Continue, Edited, Ended, Expire, Job, LearnPast, Remind, Reply, Triage, Work
from bot.observability.logs import add_log_context
from bot.ports import Issue, IssueRef, Outcome, RepositoryRef, Withheld
from bot.runs.past import is_enough, learn_page, update_stored_issue
from bot.settings.repository import FoundConfig
from bot.store.issues.past_issues import ReadingProgress
from bot.store.jobs.deliveries import Arrival
from bot.store.runs.issue_runs import Origin, Settlement
from bot.store.runs.rows import ListedRun
from bot.worker.issue_job import CurrentIssue, IssueJob, body_hash, explain_refusal
from bot.worker.publish.publisher import Why
from bot.worker.publish.wanted import reason_to_skip, remedy_for
from bot.worker.runs.code import note_shortfalls, open_code, recheck_facts
from bot.worker.runs.conclude import conclude
from bot.worker.runs.graph import UnresumableError, run_graph
from bot.worker.tools import Tools
from nodes.context.ports import CodePort
from nodes.state import Finished
from nodes.trust.secrets import holds_token, mask

RunWork = Triage | Edited | Reply | Continue | Expire | Remind
STORED_TEXT = 20_000
"""Characters of an issue's text that are stored for the page of its run."""


async def start_learning(issue_job: IssueJob) -> None:
    """Index a repository's newest issues before its first report; jobs index the older ones."""
    past = issue_job.store.repository.past
    if await past.has_started():
        return
    rest = LearnPast(ref=issue_job.ref.repository)
    guid = f"learn_past:{issue_job.job.id}:{issue_job.job.attempt}"
    # Queued before the first page is read: if that read fails, the job still indexes every page.
    await issue_job.tools.store.inbox.accept(Arrival(guid, "learn_past", b"", (rest,)))
    # Marks the index as started, so that deliveries from now on update it.
    await past.store_page((), ReadingProgress())
    try:
        await learn_page(past, issue_job.github)
    except SuspendedError:
        raise
    except BotError as error:
        issue_job.log("past_issues_later", str(error))


async def learn(job: Job, ref: RepositoryRef, tools: Tools) -> None:
    """Index one page of a repository's old issues. A new job reads the next page, so limits only delay it."""
    past = tools.store.for_repository(ref).past
    walk = await past.progress()
    if walk is None:
        return await tools.store.jobs.settle(job, "no longer needed")
    if not is_enough(walk):
        walk = await learn_page(past, tools.github.for_repository(ref))
    more = [] if is_enough(walk) else [LearnPast(ref=ref)]
    return await tools.store.jobs.settle(job, f"{walk.seen} issues learnt", next_work=more)


async def update_index(issue_job: IssueJob, issue: Issue | None) -> None:
    """Update the index, once it is started, with an issue as it was just read; one that left is removed."""
    if not await issue_job.store.repository.past.has_started():
        return
    current = issue if issue is not None and issue.ref.key == issue_job.ref.key else None
    await update_stored_issue(issue_job.store.repository.past, issue_job.ref.number, current)


async def mark_ended(issue_job: IssueJob, work: Ended) -> None:
    """Mark a closed issue as closed in the index; remove one that was deleted or transferred."""
    past = issue_job.store.repository.past
    if work.how == "closed":
        await past.mark(issue_job.ref.number, is_open=False)
    else:
        await past.forget(issue_job.ref.number)


async def read_actionable(issue_job: IssueJob, why: Why, work: RunWork) -> CurrentIssue | None:
    """Read the issue again. None if it is to be left alone now; the job is then settled."""
    found, issue = await read_issue(issue_job, work)
    if issue is None:
        return None
    skip_reason = reason_to_skip(issue, found.config)
    asked_in, asked_by = (work.asked_in, work.actor) if isinstance(work, Triage | Continue) else (None, "")
    if skip_reason is not None:
        why_not = f"Nothing was done: {skip_reason}. {remedy_for(skip_reason)}".rstrip()
        await explain_refusal(issue_job, found, asked_in, why_not)
        await settle_skipped(issue_job, skip_reason)
        return None
    commanded = isinstance(work, Continue) or (isinstance(work, Triage) and work.why == "command")
    return CurrentIssue(issue, found, why, commanded, asked_in, asked_by)


async def read_issue(issue_job: IssueJob, work: RunWork) -> tuple[FoundConfig, Issue | None]:
    """Read the configuration and the issue. The issue is None if it is gone or moved; the job is then settled."""
    found = await issue_job.config()
    issue = await issue_job.github.issue(issue_job.ref.number)
    # On every read, so that the comparison with earlier issues needs no requests of its own.
    await update_index(issue_job, issue)
    if issue is None:
        await settle_ended(issue_job, "the issue no longer exists")
        return found, None
    if issue.ref.key != issue_job.ref.key:
        await _moved(issue_job, work, issue.ref)
        return found, None
    if issue.state == "open" and (await issue_job.store.row.state()).ended is not None:
        await issue_job.store.row.end(None)  # the delivery "reopened" was lost or has not arrived yet
    return found, issue


async def _moved(issue_job: IssueJob, work: RunWork, to: IssueRef) -> None:
    """Hand the job over to the issue's new place, after a job that takes over its runs and questions."""
    await issue_job.store.row.end("transferred", to.key)
    follows: list[Work] = [Triage(ref=to, why="opened", moved_from=issue_job.ref.key)]
    # Any other triage is the same as the one above.
    if not isinstance(work, Triage) or work.why == "command":
        follows.append(work.model_copy(update={"ref": to}))
    await issue_job.settle("moved", follows)


async def settle_skipped(issue_job: IssueJob, why: str) -> None:
    """Settle the job. A run with an open question still waits, as it can be answered later; any other run ends."""
    run = await issue_job.store.runs.last()
    if run is not None and run.status == "waiting" and await issue_job.store.questions.open() is not None:
        return await issue_job.settle(f"{why}; the run still waits")
    return await settle_ended(issue_job, why)


async def settle_ended(issue_job: IssueJob, why: str) -> None:
    """Settle the job, stop an unfinished run of the issue, and withdraw its open question."""
    run = await issue_job.store.runs.last()
    if run is not None and run.unfinished:
        open_question = await issue_job.store.questions.open()
        if open_question is not None:
            await issue_job.store.questions.settle(open_question.question_id, "withdrawn")
        await issue_job.store.runs.settle(run.number, Settlement("stopped"), issue_job.job, why)
        await issue_job.tools.checkpoints.adelete_thread(issue_job.store.thread(run.number))
        return
    await issue_job.settle(why)


async def step(issue_job: IssueJob, seen: CurrentIssue, run: ListedRun) -> None:
    """Advance a run until it waits or ends, publish the outcome and settle the job."""
    add_log_context(run=run.number)
    # Before the code is opened and a model is called: nothing may quote the secret.
    if holds_token(f"{seen.issue.title}\n{seen.issue.body}"):
        # An edit of the issue starts triage again.
        title, text_hash = _title(seen.issue), body_hash(seen.issue)
        await issue_job.store.runs.pin(
            run.number, sha="", brain="rules", config_hash="", body_hash=text_hash, title=title
        )
        await conclude(issue_job, seen, run, Withheld())
        return
    await start_learning(issue_job)
    text = await issue_job.tools.sources.logs.read(seen.issue.body, allowed=seen.found.config.logs)
    async with open_code(issue_job, seen, run) as code:
        try:
            run = await _pin(issue_job, seen, run, code)
            outcome = await run_graph(issue_job, seen, run, code, text)
            _check_written(outcome)
        except UnresumableError as error:
            issue_job.log("run_begun_anew", str(error))
            # Once only: if the new run cannot be resumed either, the job fails and is retried.
            run = await _pin(issue_job, seen, await issue_job.store.runs.give_up(run.number), code)
            outcome = await run_graph(issue_job, seen, run, code, text)
        outcome = await recheck_facts(issue_job, seen, outcome, code, text.body)
        await note_shortfalls(issue_job, code)
    await conclude(issue_job, seen, run, outcome)


def _check_written(outcome: Outcome) -> None:
    """Raise ``UnresumableError`` if the writer ended with a fault, such as a lack of file descriptors."""
    trace = outcome.state.trace if isinstance(outcome, Finished) else ()
    if any(entry.node == "writer" and entry.decision == "failed" for entry in trace):
        raise UnresumableError("its report could not be written")


async def _pin(issue_job: IssueJob, seen: CurrentIssue, run: ListedRun, code: CodePort) -> ListedRun:
    """Record what the run uses; raises ``UnresumableError`` if the commit that it began with is gone."""
    if run.sha and run.sha != code.sha:
        raise UnresumableError(f"commit {run.sha[:12]} is gone")
    issue = seen.issue
    await issue_job.store.runs.pin(
        run.number,
        sha=code.sha,
        brain=issue_job.tools.brains.for_run(seen.found.config).name,
        config_hash=seen.found.digest,
        body_hash=body_hash(issue),
        title=_title(issue),
        origin=Origin(mask(issue.body)[:STORED_TEXT], issue.author, seen.why, seen.asked_by, seen.asked_in),
    )
    return run


def _title(issue: Issue) -> str:
    """Return the title for pages and their search: secrets masked, at most 300 characters."""
    return " ".join(mask(issue.title).split())[:300]
