"""Recover what was missed: failed deliveries, issues without any delivery, and parked jobs."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from bot.errors import BotError, RefusedError, SuspendedError
from bot.github.app import GitHub
from bot.github.repository import RepositoryClient
from bot.github.values import InstallationSeen
from bot.jobs import Triage
from bot.ports import Issue, RepositoryRef
from bot.server.webhook.handlers import HANDLERS
from bot.store.installations import Listed
from bot.store.jobs.deliveries import Arrival
from bot.store.tables import Store

REACH = timedelta(days=3)
"""Age up to which GitHub redelivers deliveries."""
OVERLAP = timedelta(minutes=5)
"""Allowance for clocks that differ and for late deliveries."""
MAX_REPOSITORIES, MAX_ISSUES, MAX_OF_ONE = 1_000, 200, 100
"""Repositories and issues per round, and issues per repository; the rest is left to the next round."""

logger = logging.getLogger(__name__)


async def catch_up(store: Store, app: GitHub) -> int:
    """Ask GitHub to redeliver failed deliveries. Returns how many.

    GitHub does not redeliver by itself.
    """
    since = stamp(datetime.now(UTC) - REACH)
    requested = 0
    for delivery in await app.failed_deliveries(since):
        # Only deliveries that were never stored: a response that was lost after the commit counts as failed at GitHub.
        if delivery.event in HANDLERS and not await store.inbox.knows(delivery.guid):
            await app.redeliver(delivery.id)
            requested += 1
    if requested:
        logger.info("requested %d missed deliveries", requested, extra={"action": "caught_up"})
    return requested


async def revive_dead(store: Store) -> int:
    """Retry jobs that failed for good while a service was unavailable. Returns how many.

    Each job has a few retries: the first an hour after it failed, each later one after twice the previous wait.
    """
    revived = await store.dead.revive()
    if revived:
        logger.warning("queued %d dead jobs again", len(revived), extra={"action": "jobs_revived", "jobs": revived})
    return len(revived)


async def find_missed(store: Store, github_for: Callable[[RepositoryRef], RepositoryClient]) -> int:
    """Triage issues that were opened since the repository was last listed and for which no delivery came.

    Newest first. A repository that was never listed is only recorded, so that installing starts no run. If GitHub fails
    to answer, the next round asks again.

    Returns:
        The number of issues found.
    """
    found = 0
    for listed in await store.installations.to_list(MAX_REPOSITORIES):
        # Taken before the request, so that the next round covers issues that are opened in between.
        started = stamp(datetime.fromtimestamp(store.clock(), UTC) - OVERLAP)
        try:
            fresh = await _unknown(store, github_for(listed.ref), listed)
        except SuspendedError:
            continue  # the next round after it is active again finds what was opened meanwhile
        except RefusedError:
            fresh = []  # archived, or no longer accessible: a delivery reports that
        except BotError as error:
            logger.info("%s", error, extra={"action": "not_listed", "repository": listed.ref.key})
            continue
        for issue in fresh[: MAX_ISSUES - found]:
            # One id for each issue: a second round, or another process, stores nothing.
            work = Triage(ref=issue.ref, why="opened")
            found += await store.inbox.accept(Arrival(f"missed:{issue.ref.key}", "missed", b"", (work,)))
        if found >= MAX_ISSUES:
            break  # before `listed`, so that the next round continues with this repository
        await store.installations.listed(listed.ref.key, started)
    if found:
        logger.info("queued %d issues for which no delivery arrived", found, extra={"action": "missed_found"})
    return found


async def _unknown(store: Store, github: RepositoryClient, listed: Listed) -> list[Issue]:
    """Return issues that were opened since the last listing and that have neither a run nor a job."""
    since = listed.until
    if since is None:
        return []
    # GitHub's ``since`` filters by the last update, so issues that were opened earlier are filtered out below.
    issues = await github.issues(since=since, limit=MAX_OF_ONE)
    return [issue for issue in issues if issue.created_at >= since and not await _is_known(store, issue)]


async def _is_known(store: Store, issue: Issue) -> bool:
    if await store.jobs.has_unfinished(issue.ref.key):
        return True
    run = await store.for_issue(issue.ref).runs.last()
    # A run without a job that continues it: its worker began it for a job that a failover of the database lost.
    return run is not None and run.status != "running"


def stamp(when: datetime) -> str:
    """Format a time as GitHub does."""
    return when.strftime("%Y-%m-%dT%H:%M:%SZ")


MAX_PARKED = 200
"""Repositories per round. Those that were not checked are left to the next round."""


async def unpark_active(store: Store, app: GitHub) -> int:
    """Queue parked jobs of repositories whose installation is active. Returns how many."""
    installations: dict[int, InstallationSeen | None] = {}
    revived = 0
    for ref in await store.installations.parked(MAX_PARKED):
        try:
            revived += await _revive(store, app, ref, installations)
        except BotError as error:
            logger.info("%s", error, extra={"action": "not_asked", "repository": ref.key})
    if revived:
        logger.warning("queued %d parked jobs again", revived, extra={"action": "unparked"})
    return revived


async def _revive(
    store: Store, app: GitHub, ref: RepositoryRef, installations: dict[int, InstallationSeen | None]
) -> int:
    # One request for each installation, which may have hundreds of parked repositories.
    if ref.installation_id not in installations:
        installations[ref.installation_id] = await app.installation(ref.installation_id)
    # A repository may have moved to a new installation, if the App was removed and installed again.
    seen = installations[ref.installation_id] or await app.installation_of(ref)
    if seen is None:
        return 0
    await store.installations.note(ref.host, seen.id, "", "suspended" if seen.suspended else "active")
    if seen.suspended:
        return 0
    if seen.id != ref.installation_id:  # removed and installed again
        await store.installations.add([RepositoryRef(ref.host, seen.id, ref.id, ref.owner, ref.name)])
    return await store.jobs.unpark([ref.key])
