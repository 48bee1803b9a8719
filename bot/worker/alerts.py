"""Alerts on a crash that several people report: a comment on the first issue, and a request to the operator."""

from __future__ import annotations

import logging
from datetime import datetime

from bot.errors import RefusedError, StoppedError
from bot.jobs import Alert
from bot.ports import Issue, Outcome
from bot.report.comment.notices import alert_comment, alert_marker
from bot.settings.repository_file import FoundConfig
from bot.store.issues.past_issues import Crash, Storm
from bot.worker.issue_job import IssueJob
from bot.worker.publish.wanted import reason_to_skip
from nodes.state import Finished

_HOOK = "alert-hook"
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
