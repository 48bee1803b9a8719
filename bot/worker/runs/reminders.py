"""One reminder of an open question, posted once."""

from __future__ import annotations

from bot.jobs import Remind
from bot.limits.writes import REPLIES
from bot.ports import AskedQuestion, Issue, IssueRef
from bot.report.comment.sticky import reminder, reminder_marker
from bot.settings.repository import RepositoryConfig
from bot.worker.issue_job import IssueJob
from bot.worker.publish.poster import Poster
from bot.worker.publish.publisher import thread_of

_DAY = 86_400.0


def reminders(ref: IssueRef, question_id: str, config: RepositoryConfig) -> tuple[Remind, ...]:
    """Return the job that reminds of a question, if the configuration asks for one."""
    days = config.remind_after_days
    return (Remind(ref=ref, question_id=question_id, after=days * _DAY),) if days else ()


async def post_reminder(issue_job: IssueJob, issue: Issue, question: AskedQuestion, config: RepositoryConfig) -> None:
    """Post the reminder; a repeated attempt finds it by its marker.

    Raises:
        StoppedError: A person stopped triage, or deleted the reminder.
        RetryableError: GitHub's limits ask to wait.
    """
    effects, key = issue_job.store.repository.effects, issue_job.ref.key
    own = await effects.get(key, "question", question.question_id)
    carrier = own if own is not None and own.github_id else await effects.get(key, "sticky")
    url = f"{issue.url}#issuecomment-{carrier.github_id}" if carrier is not None and carrier.github_id else ""
    publisher = issue_job.publisher()
    poster = Poster(issue_job.github, effects, issue.ref, publisher.owner_check, publisher.now, REPLIES)
    body = reminder(thread_of(issue, config=config), question, url)
    await poster.put("reminder", question.question_id, reminder_marker(question.question_id), body)
