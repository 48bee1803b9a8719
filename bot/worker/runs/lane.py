"""Run-lane jobs: each starts a run, advances a waiting run or does nothing."""

from dataclasses import replace

from bot.errors import RateLimitedError
from bot.jobs import Continue, Edited, Expire, Remind, Reply, Triage
from bot.report.comment.state import read_state
from bot.report.comment.thread import REPORT_MARKER
from bot.store.runs.rows import ListedRun
from bot.worker.commands.table import STOPPED
from bot.worker.issue_job import CurrentIssue, IssueJob, OverLimitError, admit, body_hash, explain_refusal
from bot.worker.publish.publisher import Why
from bot.worker.publish.wanted import reason_to_skip
from bot.worker.runs.questions import post_reminder, settle_by_comment, settle_by_edit
from bot.worker.runs.steps import read_actionable, read_issue, step, update_index
from nodes.state import HumanExchange

_TRIAGED = ("waiting", "finished", "stopped")
"""Runs after which an opened issue counts as triaged.

A "running" run was interrupted in this job's previous attempt; a failed run has no result.
"""


async def triage(issue_job: IssueJob, work: Triage) -> None:
    """Triage an issue from the start; an opened issue only once, whatever the order of deliveries."""
    why: Why = work.why
    if work.moved_from is not None:
        await issue_job.store.row.adopt(work.moved_from)
    # An opened issue has no comment of ours yet, and a workflow that is run again is meant to triage again.
    run = await (issue_job.store.runs.last() if work.why in ("opened", "backfill") else last_run(issue_job))
    if run is not None and run.status in _TRIAGED and work.why in ("opened", "backfill"):
        return await _skip_triaged(issue_job, work, run)
    seen = await read_actionable(issue_job, why, work)
    if seen is None:
        return None
    # Read after the issue: a stop that arrives during the requests to GitHub still counts.
    if (await issue_job.store.row.state()).muted:
        await explain_refusal(issue_job, seen.found, work.asked_in, STOPPED)
        return await issue_job.settle("muted")
    is_same = work.why == "reopened" and run is not None and run.body_hash == body_hash(seen.issue)
    if is_same and run is not None and run.status in ("finished", "waiting"):
        if run.status == "waiting" and await issue_job.store.questions.open() is None:
            # The answer came while the issue was closed.
            return await step(issue_job, replace(seen, why="answer"), run)
        return await issue_job.settle("nothing new" if run.status == "finished" else "the run still waits")
    by_author = work.why != "backfill" and work.by in (None, seen.issue.author_id)
    run = await _open_run(issue_job, seen, run, work, by_author=by_author)
    # After the run is opened: an issue that a limit refuses must not seem to be accepted.
    await issue_job.target(seen.found).react("eyes")
    return await step(issue_job, seen, run)


async def _skip_triaged(issue_job: IssueJob, work: Triage, run: ListedRun) -> None:
    """Skip an issue that was triaged before. If it was moved here while its run waits, the run still waits."""
    waits = work.moved_from is not None and run.status == "waiting"
    open_question = await issue_job.store.questions.open() if waits else None
    then = [Expire(ref=issue_job.ref, question_id=open_question.question_id)] if open_question is not None else []
    await issue_job.settle("triaged before", then)


async def _open_run(
    issue_job: IssueJob, seen: CurrentIssue, last: ListedRun | None, work: Triage, *, by_author: bool
) -> ListedRun:
    """Start a new run; if a limit prevents it, reply to the person whose command asked for it."""
    try:
        return await _new_run(issue_job, seen, last, by_author=by_author)
    except RateLimitedError as error:
        why = f"Not now: {error}. The run starts when the limit allows."
        await explain_refusal(issue_job, seen.found, work.asked_in, why)
        raise
    except OverLimitError as error:
        await explain_refusal(issue_job, seen.found, work.asked_in, f"Not done: {error}.")
        raise


async def edited(issue_job: IssueJob, work: Edited) -> None:
    """Triage a changed text again if the issue was triaged before. An open question is answered or withdrawn first."""
    run = await last_run(issue_job)
    row = await issue_job.store.row.state()
    if row.muted or (run is None and row.moved_to is None):
        await update_index(issue_job, await issue_job.github.issue(issue_job.ref.number))
        return await issue_job.settle("not triaged, or stopped")
    seen = await read_actionable(issue_job, "edited", work)
    if seen is None:
        return None
    # A run that is still "running" was interrupted in this job's previous attempt, which stored the text's hash
    # already.
    if run is None or (run.body_hash == body_hash(seen.issue) and run.status != "running"):
        return await issue_job.settle("nothing new")
    open_question = await issue_job.store.questions.open()
    if open_question is not None:
        await settle_by_edit(issue_job, seen.issue, open_question)
    return await step(issue_job, seen, await _new_run(issue_job, seen, run))


async def reply(issue_job: IssueJob, work: Reply) -> None:
    """Resume the run if a comment answers the open question. On a closed issue the answer is stored for later."""
    run, row = await last_run(issue_job), await issue_job.store.row.state()
    open_question = await issue_job.store.questions.open()
    if row.muted or (run is None and row.moved_to is None):
        return await issue_job.settle("not triaged, or stopped")
    if run is not None and open_question is None and run.status != "waiting":
        return await issue_job.settle("no question is open")
    found, issue = await read_issue(issue_job, work)
    if issue is None:
        return None
    if open_question is not None and not await settle_by_comment(issue_job, issue, open_question, work.comment):
        return await issue_job.settle("no answer")
    skip_reason = reason_to_skip(issue, found.config)
    if skip_reason is not None or run is None:
        return await issue_job.settle(skip_reason or "no question is open")
    if open_question is not None:
        # The reporter sees at once that the answer was read; the report may take a minute.
        await issue_job.target(found).react("eyes", work.comment.id)
    return await step(issue_job, CurrentIssue(issue, found, "answer"), run)


async def resume_run(issue_job: IssueJob, work: Continue) -> None:
    """Process answers and redirects that commands stored since the run last read them."""
    run = await issue_job.store.runs.last()
    if run is None and (await issue_job.store.row.state()).moved_to is not None:
        # Reading the issue hands the job over to the issue's new place.
        _, issue = await read_issue(issue_job, work)
        return None if issue is None else await issue_job.settle("no new signals")
    signals = await issue_job.store.signals.since(run.last_signal if run else 0)
    open_question = await issue_job.store.questions.open()
    answer = next((signal for signal in signals if signal.kind == "answer"), None)
    redirected = any(signal.kind == "redirect" for signal in signals)
    if open_question is not None and answer is not None:
        given = (answer.text[:1_000], answer.actor, answer.url)
        await issue_job.store.questions.settle(open_question.question_id, "answered", *given)
    elif open_question is not None and redirected:
        await issue_job.store.questions.settle(open_question.question_id, "withdrawn")
    if run is not None and run.unfinished:
        return await _resume_run(issue_job, run, "answer" if answer and open_question else "redirect", work)
    if not redirected:
        return await issue_job.settle("no new signals")
    seen = await read_actionable(issue_job, "redirect", work)
    return None if seen is None else await step(issue_job, seen, await _new_run(issue_job, seen, run, by_author=False))


async def expire(issue_job: IssueJob, work: Expire) -> None:
    """Mark a question as expired and resume its run without an answer."""
    await issue_job.store.questions.settle(work.question_id, "expired")
    run = await issue_job.store.runs.last()
    if run is None or run.status != "waiting":
        return await issue_job.settle("nothing waits")
    return await _resume_run(issue_job, run, "expired", work)


async def remind(issue_job: IssueJob, work: Remind) -> None:
    """Remind of an open question once, if the repository's configuration still asks for it."""
    open_question = await issue_job.store.questions.open()
    if open_question is None or open_question.question_id != work.question_id:
        return await issue_job.settle("the question is settled")
    seen = await read_actionable(issue_job, "expired", work)
    if seen is None:
        return None
    if seen.found.config.remind_after_days is None or seen.found.config.mode != "comment":
        return await issue_job.settle("reminders are off")
    await post_reminder(issue_job, seen.issue, open_question, seen.found)
    return await issue_job.settle("reminded")


async def _resume_run(issue_job: IssueJob, run: ListedRun, why: Why, work: Continue | Expire) -> None:
    seen = await read_actionable(issue_job, why, work)
    if seen is not None:
        await step(issue_job, seen, run)


async def _new_run(
    issue_job: IssueJob, seen: CurrentIssue, last: ListedRun | None, *, by_author: bool = True
) -> ListedRun:
    """Start a new run, or return the unfinished one that this job's previous attempt began. A waiting run is ended."""
    leave = last.number if last is not None and last.status == "waiting" else None
    # Admitted first: if a limit refuses the new run, the old one and its question stay open.
    run = await admit(issue_job, seen.issue, leave=leave, by_author=by_author)
    open_question = await issue_job.store.questions.open() if last is not None else None
    if open_question is not None:
        await issue_job.store.questions.settle(open_question.question_id, "withdrawn")
    return run


async def last_run(issue_job: IssueJob) -> ListedRun | None:
    """Return the issue's newest run; without one, in a workflow, the run that our comment describes.

    A waiting run is restored without a checkpoint: it starts again, and inherits its questions and their answers.
    """
    run = await issue_job.store.runs.last()
    # Where the store lasts, an issue without a run was never triaged, and asking GitHub would cost a request for every
    # comment on it.
    if run is not None or not issue_job.tools.github.outlives_store:
        return run
    comments = await issue_job.github.comments(issue_job.ref.number)
    sticky = next((comment for comment in comments if comment.ours and comment.body.startswith(REPORT_MARKER)), None)
    state = read_state(sticky.body) if sticky is not None else None
    if sticky is None or state is None:
        return None
    effects, questions = issue_job.store.effects, issue_job.store.questions
    for question in state.questions:
        exchange = HumanExchange(
            question=question.text, question_id=question.question_id, reason=question.reason, options=question.options
        )
        await questions.ask(exchange)
        if question.state != "open":
            await questions.settle(question.question_id, question.state)
    # Only a comment that is newer than the one with the question can be its answer.
    await effects.set_wanted("sticky", "", "", "")
    await effects.record_done("sticky", "", "", sticky.id)
    return await issue_job.store.runs.restore(state.status, state.text_hash)
