"""What a run-lane job means: a new run, the next step of one that waits, or nothing."""

from __future__ import annotations

from bot.jobs import Continue, Edited, Expire, Reply, Triage
from bot.ports import AskedQuestion
from bot.publish.publisher import Why
from bot.publish.quiet import reason_to_be_quiet
from bot.store.runs import Run
from bot.worker.answers import answer_text, answers
from bot.worker.steps import Seen, step
from bot.worker.turn import Turn, body_hash

_LOOKED = ("waiting", "finished", "stopped")
"""A run that was cut off is what the job at hand had begun; one that failed left nothing."""


async def triage(turn: Turn, work: Triage) -> None:
    """Look at an issue from the start; an opened one once, whatever order deliveries come in."""
    why: Why = work.why
    if work.moved_from is not None:
        await turn.store.row.adopt(work.moved_from)
    run = await turn.store.runs.last()
    if run is not None and run.status in _LOOKED and work.why in ("opened", "backfill"):
        return await turn.done("triaged before")
    seen = await _seen(turn, why)
    if seen is None:
        return None
    await turn.store.row.end(None)
    if (await turn.store.row.state()).muted:
        return await turn.done("muted")
    if (
        run is not None
        and work.why == "reopened"
        and run.status == "finished"
        and run.body_hash == body_hash(seen.issue)
    ):
        return await turn.done("nothing is new")
    await turn.publisher().reactions(turn.ref, seen.found).leave("eyes")
    return await step(turn, seen, await _new_run(turn, run))


async def edited(turn: Turn, work: Edited) -> None:  # noqa: ARG001  a table of functions with one shape
    """A changed text is looked at again, where there was a look before; what it withdraws or answers is settled."""
    run = await turn.store.runs.last()
    if run is None or (await turn.store.row.state()).muted:
        return await turn.done("not triaged, or muted")
    seen = await _seen(turn, "edited")
    if seen is None:
        return None
    if run.body_hash == body_hash(seen.issue) and run.status != "running":
        return await turn.done("nothing is new")
    waiting = await _open_question(turn)
    if waiting is not None:
        await turn.store.repository.questions.settle(turn.ref.key, waiting.question_id, "withdrawn")
    return await step(turn, seen, await _new_run(turn, run))


async def reply(turn: Turn, work: Reply) -> None:
    """A comment that answers the open question lets the run go on; every other one is left to people."""
    waiting = await _open_question(turn)
    run = await turn.store.runs.last()
    if run is None or (await turn.store.row.state()).muted:
        return await turn.done("not triaged, or muted")
    if waiting is not None:
        if not answers(work.comment, waiting):
            return await turn.done("no answer")
        await turn.store.repository.questions.settle(
            turn.ref.key,
            waiting.question_id,
            "answered",
            answer=answer_text(work.comment)[:1_000],
            answered_by=work.comment.author,
            answer_url=work.comment.url,
        )
    elif run.status != "waiting":
        return await turn.done("nothing was asked")
    return await _go_on(turn, run, "answer")


async def go_on(turn: Turn, work: Continue) -> None:  # noqa: ARG001  as above
    """Take in what people said by commands since the run last looked."""
    run = await turn.store.runs.last()
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
        return await _go_on(turn, run, "answer" if answer and waiting else "redirect")
    if not redirected:
        return await turn.done("nothing to take in")
    seen = await _seen(turn, "redirect")
    return None if seen is None else await step(turn, seen, await turn.store.runs.open())


async def expire(turn: Turn, work: Expire) -> None:
    """Go on without an answer that never came."""
    await turn.store.repository.questions.settle(turn.ref.key, work.question_id, "expired")
    run = await turn.store.runs.last()
    if run is None or run.status != "waiting":
        return await turn.done("nothing waits")
    return await _go_on(turn, run, "expired")


async def _go_on(turn: Turn, run: Run, why: Why) -> None:
    seen = await _seen(turn, why)
    if seen is not None:
        await step(turn, seen, run)


async def _seen(turn: Turn, why: Why) -> Seen | None:
    """Read the issue again; None, and the job is settled, where it is to be left alone now."""
    found = await turn.config()
    issue = await turn.github.issue(turn.ref.number)
    if issue is not None and issue.ref.key != turn.ref.key:
        await turn.store.row.end("transferred", issue.ref.key)
        moved = Triage(ref=issue.ref, why="opened", moved_from=turn.ref.key)
        await turn.tools.store.jobs.settle(turn.job, "moved", next_work=[moved])
        return None
    quiet = reason_to_be_quiet(issue, found.config)
    if quiet is not None or issue is None:
        await _end_quietly(turn, quiet or "")
        return None
    return Seen(issue, found, why)


async def _end_quietly(turn: Turn, why: str) -> None:
    """A run that waits for an issue that is over waits for nothing."""
    run = await turn.store.runs.last()
    if run is not None and run.unfinished:
        waiting = await _open_question(turn)
        if waiting is not None:
            await turn.store.repository.questions.settle(turn.ref.key, waiting.question_id, "withdrawn")
        await turn.store.runs.settle(run.number, "stopped", turn.job, said=why)
        await turn.tools.checkpoints.adelete_thread(turn.store.thread(run.number))
        return
    await turn.done(why)


async def _new_run(turn: Turn, last: Run | None) -> Run:
    """A run of its own; one that waits is left, one that was cut off is what this job began."""
    if last is not None and last.status == "waiting":
        waiting = await _open_question(turn)
        if waiting is not None:
            await turn.store.repository.questions.settle(turn.ref.key, waiting.question_id, "withdrawn")
        return await turn.store.runs.give_up(last.number)
    return await turn.store.runs.open()


async def _open_question(turn: Turn) -> AskedQuestion | None:
    asked = await turn.store.repository.questions.all(turn.ref.key)
    return next((question for question in asked if question.state == "open"), None)
