"""Periodic maintenance: what was missed is found again, old rows and mirrors are deleted."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

from bot.errors import BotError, RefusedError, SuspendedError
from bot.github.app import GitHub
from bot.github.repository import RepositoryClient
from bot.github.values import InstallationSeen
from bot.jobs import Score, Triage
from bot.ports import Issue, RepositoryRef
from bot.server.webhook.handlers import HANDLERS
from bot.store.installations import Listed
from bot.store.jobs.deliveries import Arrival
from bot.store.tables import Store
from bot.worker.tools import Tools

REACH = timedelta(days=3)
"""Age up to which GitHub redelivers deliveries."""
OVERLAP = timedelta(minutes=5)
"""Allowance for clocks that differ and for late deliveries."""
MAX_REPOSITORIES, MAX_ISSUES, MAX_OF_ONE = 1_000, 200, 100
"""Repositories and issues per round, and issues per repository; the rest is left to the next round."""
MAX_PARKED = 200
"""Repositories per round. Those that were not checked are left to the next round."""
DAY = 86_400.0
COUNTERS_KEPT, CLOSED_KEPT, DELIVERIES_KEPT = 90 * DAY, 90 * DAY, 7 * DAY
"""Retention of usage counters, of a closed issue's evidence, and of deliveries and finished jobs, in seconds."""
GONE_KEPT, MIRRORS_KEPT = 30 * DAY, 30 * DAY
"""Retention of the data of a repository that the App can no longer access, and of unused mirrors, in seconds."""
RECHECKED = 3 * 3_600.0
"""Seconds: checkpoints of runs that ended since then are deleted again, in case a process was killed after the run's
end."""
PAUSE = 3_600.0
"""Seconds between two rounds, over all processes."""
CHECK_EVERY = 60.0
"""Seconds between two checks whether a round is due."""
AT_START = 60.0
"""Seconds in which, of many processes that start, only one does a round."""
logger = logging.getLogger(__name__)


async def catch_up(store: Store, app: GitHub) -> int:
    """Ask GitHub, which does not redeliver by itself, to redeliver failed deliveries. Returns how many."""
    since = stamp(datetime.now(UTC) - REACH)
    requested = 0
    for delivery in await app.failed_deliveries(since):
        # Only deliveries that were never stored: a response that was lost after the commit counts as failed at GitHub.
        if delivery.event in HANDLERS and not await store.inbox.knows(delivery.guid):
            await app.redeliver(delivery.id)
            requested += 1
    return requested


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


async def unpark_active(store: Store, app: GitHub) -> int:
    """Queue parked jobs of repositories whose installation is active. Returns how many."""
    installations: dict[int, InstallationSeen | None] = {}
    revived = 0
    for ref in await store.installations.parked(MAX_PARKED):
        try:
            revived += await _revive(store, app, ref, installations)
        except BotError as error:
            logger.info("%s", error, extra={"action": "not_asked", "repository": ref.key})
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


async def prune(tools: Tools) -> None:
    """Delete rows that are older than the settings allow."""
    store = tools.store
    await store.inbox.forget_old(DELIVERIES_KEPT)
    await store.jobs.forget_done(DELIVERIES_KEPT)
    await store.pruning.counters(COUNTERS_KEPT)
    for thread in await store.pruning.over(RECHECKED):
        await tools.checkpoints.adelete_thread(thread)
    more = True
    # Each round is a transaction of limited length, so that other processes do not wait for long.
    while more:
        dropped = await store.pruning.closed_issues(CLOSED_KEPT)
        for thread in dropped.threads:
            await tools.checkpoints.adelete_thread(thread)
        if dropped.issues:
            logger.info("%d closed issues pruned", dropped.issues, extra={"action": "pruned"})
        more = dropped.more
    for key in await store.pruning.gone_repositories(GONE_KEPT):
        logger.info("all data of a repository deleted", extra={"action": "forgotten", "repository": key})


async def remove_unused_mirrors(tools: Tools) -> None:
    """Remove mirrors on this machine that were unused for long, or whose repository was deleted from the store."""
    known = {key.rpartition("/")[2] for key in await tools.store.pruning.known_repositories()}
    for name in await tools.mirrors.tidy(older_than=MIRRORS_KEPT, known=known):
        logger.info("mirror removed", extra={"action": "mirror.pruned", "repository": name})


async def run_upkeep(tools: Tools) -> None:
    """Run maintenance until cancelled: at the start, since events may have been missed before, and then every hour."""
    await _own_parts(tools)
    # The hour's lease may be held by a process that has just been replaced by this one.
    started = False
    while True:
        try:
            due = await tools.store.leases.take("upkeep", PAUSE)
            if not started:  # the holder of this lease does a round, even if another process holds the hour's lease
                started, due = True, await tools.store.leases.take("upkeep at start", AT_START)
            if due:
                await run_upkeep_round(tools)
        except BotError as error:
            logger.warning("upkeep: %s", error, extra={"action": "upkeep_failed"})
        await asyncio.sleep(CHECK_EVERY)
        await _own_parts(tools)


async def _own_parts(tools: Tools) -> None:
    """Do what each process does at the start and at every check."""
    message = "the clock was set back: %d jobs wait from now on"
    await _part("clock_set_back", tools.store.jobs.correct_due_times, message)
    await _part("mirrors_removed", lambda: remove_unused_mirrors(tools))


async def run_upkeep_round(tools: Tools) -> None:
    """Do one round for all processes. A part that fails is retried in the next round."""
    store, github = tools.store, tools.github
    await _part("caught_up", lambda: catch_up(store, github), "requested %d missed deliveries")
    await _part("unparked", lambda: unpark_active(store, github), "queued %d parked jobs again")
    await _part("jobs_revived", store.dead.revive, "queued %d dead jobs again")
    missed = "queued %d issues for which no delivery arrived"
    await _part("missed_found", lambda: find_missed(store, github.for_repository), missed)
    await _part("fix_searches_queued", lambda: queue_fix_searches(store))
    await _part("pruned", lambda: prune(tools))


async def queue_fix_searches(store: Store) -> int:
    """Queue a search for fixes of closed issues, which may land later, and return how many were queued."""
    due = await store.outcomes.due()
    for item in due:
        work = Score(ref=item.ref)
        await store.inbox.accept(Arrival(f"score:{item.ref.key}:{item.run}:{item.looks}", "score", b"", (work,)))
    return len(due)


async def _part(action: str, do: Callable[[], Awaitable[int | None]], message: str = "") -> None:
    """Do a part of the maintenance, and log how many things it did."""
    try:
        count = await do()
    except BotError as error:
        logger.warning("upkeep, %s: %s", action, error, extra={"action": "upkeep_failed", "part": action})
    except Exception:  # the next round retries, and jobs continue meanwhile
        logger.exception("upkeep, %s", action, extra={"action": "upkeep_failed", "part": action})
    else:
        if count and message:
            logger.warning(message, count, extra={"action": action})
