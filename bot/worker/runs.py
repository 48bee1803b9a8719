"""Run-lane jobs: each starts a run, advances a waiting run or does nothing."""

from __future__ import annotations

from dataclasses import replace

from bot.answers import answer_in, answer_in_body
from bot.errors import RateLimitedError
from bot.jobs import Continue, Edited, Expire, Reply, Triage, Work
from bot.ports import AskedQuestion, Comment, Issue, IssueRef
from bot.publish.publisher import Why
from bot.publish.quiet import lifted_by, reason_to_be_quiet
from bot.repo_config import FoundConfig
from bot.store.runs import Run
from bot.worker.admission import OverLimitError, admit
from bot.worker.past import look_again, saw
from bot.worker.steps import Seen, step
from bot.worker.turn import Turn, body_hash
from bot.worker.why_not import STOPPED, tell_why_not

RunWork = Triage | Edited | Reply | Continue | Expire
_LOOKED = ("waiting", "finished", "stopped")
"""Runs after which an opened issue counts as triaged.

A "running" run was cut off, and this job's previous attempt began it; a failed one left nothing.
"""


async def triage(turn: Turn, work: Triage) -> None:
    """Triage an issue from the start; an opened issue only once, whatever the order of deliveries."""
    why: Why = work.why
    if work.moved_from is not None:
        await turn.store.row.adopt(work.moved_from)
    run = await turn.store.runs.last()
    if run is not None and run.status in _LOOKED and work.why in ("opened", "backfill"):
        return await _looked_at(turn, work, run)
    seen = await _seen(turn, why, work)
    if seen is None:
        return None
    if (await turn.store.row.state()).muted:
        await tell_why_not(turn, seen.found, work.asked_in, STOPPED)
        return await turn.done("muted")
    if work.why == "reopened" and run is not None and run.body_hash == body_hash(seen.issue):
        if run.status == "finished":
            return await turn.done("nothing is new")
        if run.status == "waiting":
            return await _reopened(turn, seen, run)
    by_author = work.why != "backfill" and work.by in (None, seen.issue.author_id)
    run = await _wanted_run(turn, seen, run, work, by_author=by_author)
    await turn.publisher().reactions(turn.ref, seen.found).leave("eyes")
    return await step(turn, seen, run)


async def _looked_at(turn: Turn, work: Triage, run: Run) -> None:
    """Leave an issue that was triaged before. If it was moved here while its run waits, the run still waits."""
    waiting = await _open_question(turn) if work.moved_from is not None and run.status == "waiting" else None
    then = [Expire(ref=turn.ref, question_id=waiting.question_id)] if waiting is not None else []
    await turn.tools.store.jobs.settle(turn.job, "triaged before", next_work=then)


async def _reopened(turn: Turn, seen: Seen, run: Run) -> None:
    """Let a waiting run wait, unless the answer came while the issue was closed."""
    if await _open_question(turn) is not None:
        return await turn.done("it still waits")
    return await step(turn, replace(seen, why="answer"), run)


async def _wanted_run(turn: Turn, seen: Seen, last: Run | None, work: Triage, *, by_author: bool) -> Run:
    """Start a new run; if a limit prevents it, reply to the person whose command asked for it."""
    try:
        return await _new_run(turn, seen, last, by_author=by_author)
    except RateLimitedError as error:
        await tell_why_not(turn, seen.found, work.asked_in, f"Not now: {error}. The run starts when the limit allows.")
        raise
    except OverLimitError as error:
        await tell_why_not(turn, seen.found, work.asked_in, f"Not done: {error}.")
        raise


async def edited(turn: Turn, work: Edited) -> None:
    """Triage a changed text again if the issue was triaged before. An open question is answered or withdrawn first."""
    run = await turn.store.runs.last()
    row = await turn.store.row.state()
    if row.muted or (run is None and row.moved_to is None):
        await look_again(turn)
        return await turn.done("not triaged, or muted")
    seen = await _seen(turn, "edited", work)
    if seen is None:
        return None
    if run is None or (run.body_hash == body_hash(seen.issue) and run.status != "running"):
        return await turn.done("nothing is new")
    waiting = await _open_question(turn)
    if waiting is not None:
        await _settle_by_edit(turn, seen.issue, waiting)
    return await step(turn, seen, await _new_run(turn, seen, run))


async def _settle_by_edit(turn: Turn, issue: Issue, question: AskedQuestion) -> None:
    """Settle the open question: answered if the new text holds the answer, else withdrawn, as its text is outdated."""
    answer = answer_in_body(issue, question)
    await turn.store.repository.questions.settle(
        turn.ref.key,
        question.question_id,
        "answered" if answer else "withdrawn",
        answer=answer,
        answered_by=issue.author if answer else None,
        answer_url=issue.url if answer else None,
    )


async def reply(turn: Turn, work: Reply) -> None:
    """Resume the run if a comment answers the open question. On a closed issue the answer is stored for later."""
    waiting = await _open_question(turn)
    run, row = await turn.store.runs.last(), await turn.store.row.state()
    if row.muted or (run is None and row.moved_to is None):
        return await turn.done("not triaged, or muted")
    if run is not None and waiting is None and run.status != "waiting":
        return await turn.done("nothing was asked")
    found, issue = await _read(turn, work)
    if issue is None:
        return None
    if waiting is not None and not await _answered(turn, issue, waiting, work.comment):
        return await turn.done("no answer")
    quiet = reason_to_be_quiet(issue, found.config)
    if quiet is not None or run is None:
        return await turn.done(quiet or "nothing was asked")
    return await step(turn, Seen(issue, found, "answer"), run)


async def _answered(turn: Turn, issue: Issue, question: AskedQuestion, comment: Comment) -> bool:
    """Store the answer if the comment came after the question and answers it. Returns whether it does."""
    if not await _came_after(turn, question, comment):
        return False
    by_reporter = comment.author_id is not None and comment.author_id == issue.author_id
    answer = answer_in(comment, question, by_reporter=by_reporter)
    if answer is None:
        return False
    await turn.store.repository.questions.settle(
        turn.ref.key,
        question.question_id,
        "answered",
        answer=answer,
        answered_by=comment.author,
        answer_url=comment.url,
    )
    return True


async def _came_after(turn: Turn, question: AskedQuestion, comment: Comment) -> bool:
    """Whether a comment is newer than the question, by time or by id.

    GitHub's ids grow with time; its clock and ours may disagree.
    """
    if comment.created_at >= question.asked_at:
        return True
    effects = turn.store.repository.effects
    own = await effects.get(turn.ref.key, "question", question.question_id)
    carrier = own if own is not None and own.github_id else await effects.get(turn.ref.key, "sticky")
    if carrier is None:
        # The posted question is stored under the issue's old key; a comment here was written after the issue was moved.
        return await turn.store.row.was_moved_here()
    return carrier.github_id is not None and comment.id > carrier.github_id


async def go_on(turn: Turn, work: Continue) -> None:
    """Process answers and redirects that commands stored since the run last read them."""
    run = await turn.store.runs.last()
    if run is None and (await turn.store.row.state()).moved_to is not None:
        return await _follow(turn, work)
    said = await turn.store.signals.since(run.last_signal if run else 0)
    waiting = await _open_question(turn)
    answer = next((one for one in said if one.kind == "answer"), None)
    redirected = any(one.kind == "redirect" for one in said)
    if waiting is not None and answer is not None:
        await turn.store.repository.questions.settle(
            turn.ref.key,
            waiting.question_id,
            "answered",
            answer=answer.text[:1_000],
            answered_by=answer.actor,
            answer_url=answer.url,
        )
    elif waiting is not None and redirected:
        await turn.store.repository.questions.settle(turn.ref.key, waiting.question_id, "withdrawn")
    if run is not None and run.unfinished:
        return await _go_on(turn, run, "answer" if answer and waiting else "redirect", work)
    if not redirected:
        return await turn.done("nothing to take in")
    seen = await _seen(turn, "redirect", work)
    return None if seen is None else await step(turn, seen, await _new_run(turn, seen, run, by_author=False))


async def expire(turn: Turn, work: Expire) -> None:
    """Mark a question as expired and resume its run without an answer."""
    await turn.store.repository.questions.settle(turn.ref.key, work.question_id, "expired")
    run = await turn.store.runs.last()
    if run is None or run.status != "waiting":
        return await turn.done("nothing waits")
    return await _go_on(turn, run, "expired", work)


async def _go_on(turn: Turn, run: Run, why: Why, work: Continue | Expire) -> None:
    seen = await _seen(turn, why, work)
    if seen is not None:
        await step(turn, seen, run)


async def _follow(turn: Turn, work: RunWork) -> None:
    """Read the issue, so that `_read` hands the job over to the issue's new place."""
    _, issue = await _read(turn, work)
    if issue is not None:
        await turn.done("nothing to take in")


async def _seen(turn: Turn, why: Why, work: RunWork) -> Seen | None:
    """Read the issue again. None if it is to be left alone now; the job is then settled."""
    found, issue = await _read(turn, work)
    if issue is None:
        return None
    quiet = reason_to_be_quiet(issue, found.config)
    asked_in = work.asked_in if isinstance(work, Triage | Continue) else None
    if quiet is not None:
        await tell_why_not(turn, found, asked_in, f"Nothing was done: {quiet}. {lifted_by(quiet)}".rstrip())
        await _leave_alone(turn, quiet)
        return None
    commanded = isinstance(work, Continue) or (isinstance(work, Triage) and work.why == "command")
    return Seen(issue, found, why, commanded, asked_in)


async def _read(turn: Turn, work: RunWork) -> tuple[FoundConfig, Issue | None]:
    """Read the configuration and the issue. The issue is None if it is gone or moved; the job is then settled."""
    found = await turn.config()
    issue = await turn.github.issue(turn.ref.number)
    await saw(turn, issue)
    if issue is None:
        await _end(turn, "the issue is gone")
        return found, None
    if issue.ref.key != turn.ref.key:
        await _moved(turn, work, issue.ref)
        return found, None
    if issue.state == "open" and (await turn.store.row.state()).ended is not None:
        await turn.store.row.end(None)  # the delivery "reopened" is lost or still to come
    return found, issue


async def _moved(turn: Turn, work: RunWork, to: IssueRef) -> None:
    """Hand the job over to the issue's new place.

    The new jobs start with one that takes over the issue's runs and questions.
    """
    await turn.store.row.end("transferred", to.key)
    follows: list[Work] = [Triage(ref=to, why="opened", moved_from=turn.ref.key)]
    if not isinstance(work, Triage) or work.why == "command":
        follows.append(work.model_copy(update={"ref": to}))
    await turn.tools.store.jobs.settle(turn.job, "moved", next_work=follows)


async def _leave_alone(turn: Turn, why: str) -> None:
    """Settle the job. A run with an open question still waits, as it can be answered later; any other run ends."""
    run = await turn.store.runs.last()
    if run is not None and run.status == "waiting" and await _open_question(turn) is not None:
        return await turn.done(f"{why}; it still waits")
    return await _end(turn, why)


async def _end(turn: Turn, why: str) -> None:
    """Settle the job and stop a run that waits: its issue is over."""
    run = await turn.store.runs.last()
    if run is not None and run.unfinished:
        waiting = await _open_question(turn)
        if waiting is not None:
            await turn.store.repository.questions.settle(turn.ref.key, waiting.question_id, "withdrawn")
        await turn.store.runs.settle(run.number, "stopped", turn.job, said=why)
        await turn.tools.checkpoints.adelete_thread(turn.store.thread(run.number))
        return
    await turn.done(why)


async def _new_run(turn: Turn, seen: Seen, last: Run | None, *, by_author: bool = True) -> Run:
    """Start a new run, or return the unfinished one that this job's previous attempt began. A waiting run is given up.

    Raises:
        RateLimitedError: The day's limit of runs is reached.
        OverLimitError: A limit is reached and the issue is left alone.
    """
    leave = last.number if last is not None and last.status == "waiting" else None
    run = await admit(turn, seen.issue, seen.found.config, leave=leave, by_author=by_author)
    waiting = await _open_question(turn) if last is not None else None
    if waiting is not None:
        await turn.store.repository.questions.settle(turn.ref.key, waiting.question_id, "withdrawn")
    return run


async def _open_question(turn: Turn) -> AskedQuestion | None:
    asked = await turn.store.repository.questions.all(turn.ref.key)
    return next((question for question in asked if question.state == "open"), None)
