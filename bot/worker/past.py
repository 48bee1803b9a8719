"""Maintains the index of a repository's earlier issues: built once, then updated by every delivery."""

from __future__ import annotations

from bot.errors import BotError, SuspendedError
from bot.jobs import Ended, Job, LearnPast
from bot.ports import Issue, RepositoryRef
from bot.runs.past import is_enough, learn_page, update_stored_issue
from bot.settings.repository import RepositoryConfig
from bot.store.issues.past_issues import ReadingProgress
from bot.store.jobs.deliveries import Arrival
from bot.worker.issue_job import IssueJob
from bot.worker.tools import Tools


async def start_learning(issue_job: IssueJob, config: RepositoryConfig) -> None:
    """Index a repository's newest issues before its first report; jobs index the older ones.

    If the configuration does not want earlier issues, the index is deleted.
    """
    past = issue_job.store.repository.past
    has_started = await past.has_started()
    if has_started and not config.earlier_issues:
        await past.clear()
    if has_started or not config.earlier_issues:
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


async def refresh_issue(issue_job: IssueJob) -> None:
    """Read an issue and update the index only; nothing else is done about the issue."""
    await update_index(issue_job, await issue_job.github.issue(issue_job.ref.number))


async def update_index(issue_job: IssueJob, issue: Issue | None) -> None:
    """Update the index with an issue as it was just read. An issue that was transferred or deleted is removed.

    Nothing is stored until the repository's index is started.
    """
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
