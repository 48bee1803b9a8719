"""The weekly digest: which repositories ask for one today, and the comment."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import get_args

from bot.github.repository import RepositoryClient
from bot.jobs import PostDigest
from bot.ports import Issue, IssueRef, OpenReports, RepositoryRef
from bot.report.comment.digest import READ_AGAIN, digest_marker, render_digest
from bot.report.digest import DAY, Digest, build_digest, only
from bot.settings.repository import ConfigError, Day, RepositoryConfig, read_config
from bot.settings.repository_file import FoundConfig
from bot.store.jobs.deliveries import Arrival
from bot.store.tables import Store
from bot.worker.issue_job import IssueJob
from bot.worker.publish.publisher import thread_of

LATE = 2
"""Days, from the configured one on, within which a digest is posted; the server may not run on that day."""
PERIOD = 7
"""Days."""
_KIND = "digest"
"""The kind of the effect."""


async def queue_digests(store: Store) -> int:
    """Queue the digests that are due; returns how many. A week's digest of a repository is queued once."""
    queued = 0
    for ref, text in await store.installations.configured("digest"):
        try:
            wanted = read_config(text).digest
        except ConfigError:
            continue  # an older release accepted it
        week = due_week(store.clock(), wanted.day)
        if wanted.issue is None or week is None:
            continue
        work = PostDigest(ref=_issue_of(ref, wanted.issue), week=week.isoformat())
        queued += await store.inbox.accept(Arrival(f"digest:{ref.key}:{work.week}", "digest", b"", (work,)))
    return queued


def due_week(now: float, day: Day) -> date | None:
    """Return the first day of the week that begins with ``day``, if it has just begun (UTC)."""
    today = datetime.fromtimestamp(now, UTC).date()
    since = (today.weekday() - get_args(Day).index(day)) % 7
    return today - timedelta(days=since) if since < LATE else None


async def post_digest(issue_job: IssueJob, work: PostDigest) -> None:
    """Post the week's digest; a repeated attempt finds it, and a person's deletion of it is respected.

    Raises:
        RefusedError: GitHub refuses the comment.
        RetryableError: GitHub cannot be reached, or its limits ask to wait.
    """
    found = await issue_job.config()
    if not work.week or not _is_wanted(found, issue_job.ref):
        return await issue_job.settle("the configuration asks for no digest on this issue")
    effects, key = issue_job.store.repository.effects, issue_job.ref.key
    known = await effects.get(key, _KIND, work.week)
    if known is not None and known.github_id is not None:
        return await issue_job.settle("posted before")
    issue = await issue_job.github.issue(issue_job.ref.number)
    if issue is None or not _may_be_written_to(issue, issue_job.ref):
        return await issue_job.settle("the issue is closed, locked, moved or gone")
    now = issue_job.tools.store.clock()
    reports = await issue_job.store.repository.open_issues.read(now - PERIOD * DAY)
    digest = await read_again(issue_job.github, issue.ref, reports, found.config, now)
    if digest.empty:
        return await issue_job.settle("nothing is open")
    marker = digest_marker(work.week)
    text = render_digest(digest, thread_of(issue).server_url, READ_AGAIN)
    await issue_job.poster(issue.ref, issue_job.check_ownership).put(_KIND, work.week, marker, f"{marker}\n\n{text}")
    return await issue_job.settle(f"{digest.bugs} open bugs")


async def read_again(
    github: RepositoryClient, ref: IssueRef, found: OpenReports, config: RepositoryConfig, now: float
) -> Digest:
    """Return the digest of those issues that are still open, each read again from GitHub.

    The issue ``ref``, which the digest is for, is not in it.
    """
    titles = {}
    numbers = {report.number for report in found.reports} | {question.number for question in found.questions}
    for number in sorted(numbers - {ref.number}):
        issue = await github.issue(number)
        opted_out = issue is not None and config.opt_out_label.casefold() in map(str.casefold, issue.labels)
        is_unmoved = issue is not None and issue.ref.repository_id == ref.repository_id
        if issue is not None and is_unmoved and issue.state == "open" and not opted_out:
            titles[number] = issue.title
    return build_digest(f"{ref.owner}/{ref.name}", only(found, titles), now, PERIOD)


def _is_wanted(found: FoundConfig, ref: IssueRef) -> bool:
    config = found.config
    # A number in the organisation's file would name a different issue in each of its repositories.
    is_own = config.digest.issue == ref.number and not found.from_organisation
    return is_own and config.enabled and config.mode == "comment"


def _may_be_written_to(issue: Issue, ref: IssueRef) -> bool:
    """Return whether the digest may be posted there; the opt-out label prevents triage, not the digest."""
    return issue.ref.key == ref.key and issue.state == "open" and not issue.locked and not issue.is_pull_request


def _issue_of(ref: RepositoryRef, number: int) -> IssueRef:
    return IssueRef(ref.host, ref.installation_id, ref.id, ref.owner, ref.name, number)
