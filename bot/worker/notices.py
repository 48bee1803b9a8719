"""Notices of what waits for a person, sent to the operator's address: what the overview shows, and new digests."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator

from bot.errors import RefusedError
from bot.jobs import Event, Job, Notify
from bot.limits.ceilings import describe_limit
from bot.ports import RepositoryRef
from bot.store.jobs.deliveries import Arrival
from bot.store.pages.rows import RunRow
from bot.worker.tools import Tools
from nodes.trust.secrets import mask

DAY = 86_400.0
"""Seconds after which an open question is worth a notice."""
_MOST = 10
"""Notices of one kind that a round queues."""
_REASON = 200
"""Characters of a reason."""

logger = logging.getLogger(__name__)


async def queue_notices(tools: Tools) -> int:
    """Queue what no notice was queued for within the retention of deliveries; returns how many.

    A notice names the repository, the issue's number and our own message. It has no text of the issue, which may be
    private or describe a security problem.
    """
    if tools.hook is None:
        return 0
    queued = 0
    async for subject, work in _found(tools):
        queued += await tools.store.inbox.accept(Arrival(f"notice:{work.event}:{subject}", "notice", b"", (work,)))
    return queued


async def send(job: Job, work: Notify, tools: Tools) -> None:
    """Send a notice and settle its job.

    Raises:
        RetryableError: The address does not respond; the job is retried.
    """
    message = "sent"
    event = {"event": work.event, "repository": f"{work.ref.owner}/{work.ref.name}", "issue": work.issue or None}
    try:
        if tools.hook is not None:
            await tools.hook.send(job.delivery, {**event, "text": work.text, "link": work.link})
    except RefusedError as error:
        message = str(error)
        logger.warning("notice refused: %s", error, extra={"action": "notice.refused"})
    await tools.store.jobs.settle(job, message)


async def _found(tools: Tools) -> AsyncIterator[tuple[str, Notify]]:
    """Yield each notice with the subject that identifies it."""
    pages, now = tools.store.pages, tools.store.clock()
    for question in await pages.attention.questions(None):
        if now - question.asked_at >= DAY:
            yield question.run.thread, _of_run("question", question.run, "a question has had no answer for a day")
    for ended in await pages.attention.ended(None):
        says = f"the run {'was stopped' if ended.run.status == 'stopped' else 'failed'}"
        yield ended.run.thread, _of_run("ended", ended.run, f"{says}: {_line(ended.reason)}" if ended.reason else says)
    for lacked in await pages.attention.lacked(None):
        work = _notice("permission", lacked.repository_key, lacked.repository, 0, describe_limit(lacked.code))
        yield f"{lacked.repository_key}:{lacked.code}", work
    for job in (await pages.queue.listing("dead", None))[:_MOST]:
        if job.owner and job.name:
            says = f"the job {job.id} ({job.kind}) failed on every attempt: {_line(job.message)}"
            key = job.issue_key.partition("#")[0]
            yield str(job.id), _notice("dead", key, f"{job.owner}/{job.name}", job.issue or 0, says)
    for digest in await pages.attention.digests():
        number = int(digest.issue_key.rpartition("#")[2])
        says = f"the digest of the week from {digest.week} is posted"
        work = _notice("digest", digest.repository_key, digest.repository, number, says)
        yield f"{digest.issue_key}:{digest.week}", work


def _of_run(event: Event, run: RunRow, says: str) -> Notify:
    return _notice(event, run.repository_key, f"{run.owner}/{run.name}", run.issue, says)


def _notice(event: Event, repository_key: str, repository: str, issue: int, says: str) -> Notify:
    """Build a notice.

    Args:
        event: its kind.
        repository_key: key of the repository.
        repository: its owner/name.
        issue: number of the issue; 0 if it is about the whole repository.
        says: what waits.
    """
    host, _, number = repository_key.rpartition("/")
    owner, _, name = repository.partition("/")
    about = f"{repository}#{issue}" if issue else repository
    page = f"https://{host}/{repository}" + (f"/issues/{issue}" if issue else "")
    ref = RepositoryRef(host, 0, int(number), owner, name)
    return Notify(ref=ref, event=event, issue=issue, text=f"{about}: {says}", link=page)


def _line(text: str) -> str:
    return " ".join(mask(text).split())[:_REASON]
