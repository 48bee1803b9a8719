"""Restore what a comment of ours says about an issue, if the store knows nothing: in a workflow without a cache."""

from __future__ import annotations

from bot.github.token import TokenGitHub
from bot.report.comment.state import read_state
from bot.report.comment.thread import REPORT_MARKER
from bot.store.runs import Run
from bot.worker.issue_job import IssueJob
from nodes.state import HumanExchange


async def last_run(issue_job: IssueJob) -> Run | None:
    """Return the issue's newest run; without one, in a workflow, the run that our comment describes.

    A waiting run is restored without a checkpoint: it starts again, and inherits its questions and their answers.
    """
    run = await issue_job.store.runs.last()
    # A server keeps its store. There an issue without a run was never triaged, and asking GitHub would cost a request
    # for every comment on it.
    if run is not None or not isinstance(issue_job.tools.github, TokenGitHub):
        return run
    comments = await issue_job.github.comments(issue_job.ref.number)
    sticky = next((comment for comment in comments if comment.ours and comment.body.startswith(REPORT_MARKER)), None)
    state = read_state(sticky.body) if sticky is not None else None
    if sticky is None or state is None:
        return None
    key, repository = issue_job.ref.key, issue_job.store.repository
    for question in state.questions:
        exchange = HumanExchange(
            question=question.text, question_id=question.question_id, reason=question.reason, options=question.options
        )
        await repository.questions.ask(key, exchange)
        if question.state != "open":
            await repository.questions.settle(key, question.question_id, question.state)
    # Answers are newer than the comment that asks, which is how a comment is known to be one.
    await repository.effects.set_wanted(key, "sticky", "", "", "")
    await repository.effects.record_done(key, "sticky", "", "", sticky.id)
    return await issue_job.store.runs.restore(state.status, state.text_hash)
