"""Alerts on a crash that several people report: a comment on the first issue."""

import logging
from datetime import datetime

from bot.errors import RefusedError, StoppedError
from bot.jobs import Alert
from bot.ports import Issue, Outcome
from bot.report.comment.notices import alert_comment
from bot.report.comment.thread import marker
from bot.settings.repository_file import FoundConfig
from bot.store.issues.past_issues import Crash
from bot.worker.issue_job import IssueJob
from bot.worker.publish.wanted import reason_to_skip
from nodes.state import Finished

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
    """Comment on the first issue, unless the App leaves that issue alone; a repeated attempt writes nothing more."""
    storm = await issue_job.store.repository.crashes.recent(work.fingerprint, work.at)
    config = (await issue_job.config()).config
    if not config.crash_alerts:
        return await issue_job.settle("alerts are off")
    issue = await issue_job.github.issue(issue_job.ref.number)
    if issue is not None and config.mode == "comment" and reason_to_skip(issue, config) is None:
        others = [number for number in storm.issues if number != issue_job.ref.number]
        try:
            body = alert_comment(storm.fingerprint, storm.reporters, others)
            await issue_job.poster(issue.ref).put("alert", storm.fingerprint, marker("alert", storm.fingerprint), body)
        except (RefusedError, StoppedError) as error:
            logger.info("alert refused: %s", error, extra={"action": "alert.refused"})
    return await issue_job.settle(f"{storm.reporters} reporters")


def _seconds(timestamp: str) -> float:
    """Return GitHub's timestamp in seconds since 1970; infinity if it is not a time, which counts as now."""
    try:
        return datetime.fromisoformat(timestamp).timestamp()
    except ValueError:
        return float("inf")
