"""The open question of an issue, and what settles it: a person's comment, or an edit of the issue."""

from __future__ import annotations

from bot.ports import AskedQuestion, Comment, Issue
from bot.worker.issue_job import IssueJob
from bot.worker.runs.answers import answer_in, answer_in_body


async def find_open_question(issue_job: IssueJob) -> AskedQuestion | None:
    """Return the issue's open question; None if none is open."""
    asked = await issue_job.store.repository.questions.all(issue_job.ref.key)
    return next((question for question in asked if question.state == "open"), None)


async def settle_by_edit(issue_job: IssueJob, issue: Issue, question: AskedQuestion) -> None:
    """Settle the open question: answered if the new text contains the answer, else withdrawn as outdated."""
    answer = answer_in_body(issue, question)
    await issue_job.store.repository.questions.settle(
        issue_job.ref.key,
        question.question_id,
        "answered" if answer else "withdrawn",
        answer=answer,
        answered_by=issue.author if answer else None,
        answer_url=issue.url if answer else None,
    )


async def settle_by_comment(issue_job: IssueJob, issue: Issue, question: AskedQuestion, comment: Comment) -> bool:
    """Store the answer if the comment came after the question and answers it. Returns whether it does."""
    if not await _is_newer(issue_job, question, comment):
        return False
    by_reporter = comment.author_id is not None and comment.author_id == issue.author_id
    answer = answer_in(comment, question, by_reporter=by_reporter)
    if answer is None:
        return False
    await issue_job.store.repository.questions.settle(
        issue_job.ref.key,
        question.question_id,
        "answered",
        answer=answer,
        answered_by=comment.author,
        answer_url=comment.url,
    )
    return True


async def _is_newer(issue_job: IssueJob, question: AskedQuestion, comment: Comment) -> bool:
    """Return whether a comment is newer than the question, by time or by id.

    GitHub's ids grow with time; its clock and ours may disagree.
    """
    if comment.created_at >= question.asked_at:
        return True
    effects = issue_job.store.repository.effects
    own = await effects.get(issue_job.ref.key, "question", question.question_id)
    carrier = own if own is not None and own.github_id else await effects.get(issue_job.ref.key, "sticky")
    if carrier is None:
        # The posted question is stored under the issue's old key; a comment here was written after the issue was moved.
        return await issue_job.store.row.was_moved_here()
    return carrier.github_id is not None and comment.id > carrier.github_id
