"""Periodic maintenance: once for all processes in the store, and by each process on its own disk."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from bot.errors import BotError
from bot.jobs import Score
from bot.store.jobs.deliveries import Arrival
from bot.store.tables import Store
from bot.worker.digests import queue_digests
from bot.worker.missed import catch_up, find_missed, revive_dead, unpark_active
from bot.worker.notices import queue_notices
from bot.worker.outcomes.judgements import read_ratings
from bot.worker.tools import Tools

COUNTERS_KEPT = 90 * 86_400.0
"""Retention of usage counters, in seconds."""
RECHECKED = 3 * 3_600.0
"""Seconds: checkpoints of runs that ended since then are deleted again, in case a process was killed after the run's
end."""

logger = logging.getLogger(__name__)


async def prune(tools: Tools) -> None:
    """Delete rows that are older than the settings allow, and return the space to the file system."""
    store, keep = tools.store, tools.keep
    await store.inbox.forget_old(keep.deliveries)
    await store.jobs.forget_done(keep.deliveries)
    await store.pruning.counters(COUNTERS_KEPT)
    for thread in await store.pruning.over(RECHECKED):
        await tools.checkpoints.adelete_thread(thread)
    more = True
    # Each round is a transaction of limited length, so that other processes do not wait for long.
    while more:
        dropped = await store.pruning.closed_issues(keep.closed)
        for thread in dropped.threads:
            await tools.checkpoints.adelete_thread(thread)
        if dropped.issues:
            logger.info("%d closed issues pruned", dropped.issues, extra={"action": "pruned"})
        more = dropped.more
    for key in await store.pruning.gone_repositories(keep.gone):
        logger.info("all data of a repository deleted", extra={"action": "forgotten", "repository": key})
    # Last, when all rows are deleted.
    await store.shrink()


async def remove_unused_mirrors(tools: Tools) -> None:
    """Remove mirrors on this machine that were unused for long, or whose repository was deleted from the store."""
    known = {key.rpartition("/")[2] for key in await tools.store.pruning.known_repositories()}
    for name in await tools.mirrors.tidy(older_than=tools.keep.mirrors, known=known):
        logger.info("mirror removed", extra={"action": "mirror.pruned", "repository": name})


PAUSE = 3_600.0
"""Seconds between two rounds, over all processes."""
CHECK_EVERY = 300.0
"""Seconds between two checks whether a round is due."""
AT_START = 60.0
"""Seconds in which, of many processes that start, only one does a round."""


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
    await _part("correct_due_times", lambda: correct_due_times(tools.store))
    await _part("remove_unused_mirrors", lambda: remove_unused_mirrors(tools))


async def correct_due_times(store: Store) -> None:
    """Correct the due times that a wrong clock set, and log how many."""
    corrected = await store.jobs.correct_due_times()
    if corrected:
        logger.warning(
            "the clock was set back: %d jobs wait from now on", corrected, extra={"action": "clock_set_back"}
        )


async def run_upkeep_round(tools: Tools) -> None:
    """Do one round for all processes. A part that fails is retried in the next round."""
    store, github = tools.store, tools.github
    await _part("catch_up", lambda: catch_up(store, github))
    await _part("find_revived", lambda: unpark_active(store, github))
    await _part("revive_dead", lambda: revive_dead(store))
    await _part("find_missed", lambda: find_missed(store, github.for_repository))
    await _part("queue_fix_searches", lambda: queue_fix_searches(store))
    await _part("queue_digests", lambda: queue_digests(store))
    await _part("queue_notices", lambda: queue_notices(tools))
    await _part("read_ratings", lambda: read_ratings(store, github.for_repository))
    await _part("prune", lambda: prune(tools))


async def queue_fix_searches(store: Store) -> int:
    """Queue a search for the fixes of closed issues that have none yet. Returns how many.

    An issue may be closed before its fix lands, or while no server was running.
    """
    due = await store.outcomes.due()
    for one in due:
        work = Score(ref=one.ref)
        await store.inbox.accept(Arrival(f"score:{one.ref.key}:{one.run}:{one.looks}", "score", b"", (work,)))
    return len(due)


async def _part(name: str, do: Callable[[], Awaitable[object]]) -> None:
    try:
        await do()
    except BotError as error:
        logger.warning("upkeep, %s: %s", name, error, extra={"action": "upkeep_failed", "part": name})
    except Exception:  # the next round retries, and jobs continue meanwhile
        logger.exception("upkeep, %s", name, extra={"action": "upkeep_failed", "part": name})
