"""Messages to people outside of an issue: alerts on a crash that several report, and notices to the operator."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from datetime import datetime

from bot.errors import RefusedError, StoppedError
from bot.jobs import Alert, Event, Job, Notify
from bot.limits.ceilings import describe_limit
from bot.ports import Issue, Outcome, RepositoryRef
from bot.report.comment.notices import alert_comment, alert_marker
from bot.settings.repository_file import FoundConfig
from bot.store.issues.crashes import Crash, Storm
from bot.store.jobs.deliveries import Arrival
from bot.store.pages.rows import RunRow
from bot.worker.issue_job import IssueJob
from bot.worker.publish.wanted import reason_to_skip
from bot.worker.tools import Tools
from nodes.state import Finished
from nodes.trust.secrets import mask

_HOOK = "alert-hook"
DAY = 86_400.0
"""Seconds after which an open question is worth a notice."""
_MOST = 10
"""Notices of one kind that a round queues."""
_REASON = 200
"""Characters of a reason."""
logger = logging.getLogger(__name__)


def crash_of(issue: Issue, outcome: Outcome, found: FoundConfig, now: float) -> Crash | None:
    """Return the crashes that an issue's report names; None if there are none or alerts are off."""
    report = outcome.state.report if isinstance(outcome, Finished) else None
    if report is None or not found.config.crash_alerts or report.kind == "security":
        return None
    if not report.fingerprints or issue.author_id is None:
        return None
    return Crash(report.fingerprints, issue.author_id, min(_seconds(issue.created_at), now))


async def alert(issue_job: IssueJob, work: Alert) -> None:
    """Write the comment and send the request; a repeated attempt writes no second comment."""
    storm = await issue_job.store.repository.crashes.recent(work.fingerprint, work.at)
    found = await issue_job.config()
    if not found.config.crash_alerts:
        return await issue_job.settle("alerts are off")
    await _comment(issue_job, storm, found)
    await _send(issue_job, storm)
    return await issue_job.settle(f"{storm.reporters} reporters")


async def _comment(issue_job: IssueJob, storm: Storm, found: FoundConfig) -> None:
    """Comment on the first issue, unless the App leaves that issue alone."""
    issue = await issue_job.github.issue(issue_job.ref.number)
    if issue is None or found.config.mode != "comment" or reason_to_skip(issue, found.config) is not None:
        return
    poster = issue_job.poster(issue.ref)
    others = [number for number in storm.issues if number != issue_job.ref.number]
    try:
        body = alert_comment(storm.fingerprint, storm.reporters, others)
        await poster.put("alert", storm.fingerprint, alert_marker(storm.fingerprint), body)
    except (RefusedError, StoppedError) as error:
        logger.info("alert refused: %s", error, extra={"action": "alert.refused"})


async def _send(issue_job: IssueJob, storm: Storm) -> None:
    hook, effects, key = issue_job.tools.hook, issue_job.store.repository.effects, issue_job.ref.key
    if hook is None:
        return
    wanted = await effects.set_wanted(key, _HOOK, storm.fingerprint, "sent", "")
    if wanted.done_hash == "sent":
        return
    await issue_job.check_ownership()
    ref = issue_job.ref
    event = {
        "event": "crash",
        "host": ref.host,
        "repository": f"{ref.owner}/{ref.name}",
        "fingerprint": storm.fingerprint,
        "issues": list(storm.issues),
        "reporters": storm.reporters,
        "text": f"{ref.owner}/{ref.name}: {storm.reporters} people reported one crash within 24 hours, first in",
        "link": f"https://{ref.host}/{ref.owner}/{ref.name}/issues/{ref.number}",
    }
    try:
        await hook.send(f"crash:{ref.repository.key}:{storm.fingerprint}", event)
    except RefusedError as error:
        logger.warning("alert refused: %s", error, extra={"action": "alert.refused"})
    # A refused request counts as done too, because it would be refused again.
    await effects.record_done(key, _HOOK, storm.fingerprint, "sent")


def _seconds(timestamp: str) -> float:
    """Return GitHub's timestamp in seconds since 1970; infinity if it is not a time, which counts as now."""
    try:
        return datetime.fromisoformat(timestamp).timestamp()
    except ValueError:
        return float("inf")


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
    """Build a notice."""
    host, _, number = repository_key.rpartition("/")
    owner, _, name = repository.partition("/")
    about = f"{repository}#{issue}" if issue else repository
    page = f"https://{host}/{repository}" + (f"/issues/{issue}" if issue else "")
    ref = RepositoryRef(host, 0, int(number), owner, name)
    return Notify(ref=ref, event=event, issue=issue, text=f"{about}: {says}", link=page)


def _line(text: str) -> str:
    return " ".join(mask(text).split())[:_REASON]
