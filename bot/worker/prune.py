"""Deletes data past its retention time: in the store once for all processes, on disk by each process."""

from __future__ import annotations

import logging

from bot.worker.tools import Tools

COUNTERS_KEPT = 90 * 86_400.0
"""Retention of usage counters, in seconds."""
LOOKED_BACK = 3 * 3_600.0
"""Seconds: checkpoints of runs that ended since then are deleted again, in case of a kill after the run's end."""

logger = logging.getLogger(__name__)


async def prune(tools: Tools) -> None:
    """Delete rows that are older than the settings allow, and return the space to the file system."""
    store, keep = tools.store, tools.keep
    await store.inbox.forget_old(keep.deliveries)
    await store.jobs.forget_done(keep.deliveries)
    await store.pruning.counters(COUNTERS_KEPT)
    for thread in await store.pruning.over(LOOKED_BACK):
        await tools.checkpoints.adelete_thread(thread)
    more = True
    while more:
        dropped = await store.pruning.closed_issues(keep.closed)
        for thread in dropped.threads:
            await tools.checkpoints.adelete_thread(thread)
        if dropped.issues:
            logger.info("%d closed issues pruned", dropped.issues, extra={"action": "pruned"})
        more = dropped.more
    for key in await store.pruning.gone_repositories(keep.gone):
        logger.info("all data of a repository deleted", extra={"action": "forgotten", "repository": key})
    await store.shrink()


async def remove_unused_mirrors(tools: Tools) -> None:
    """Remove mirrors on this machine that were unused for long, or whose repository was deleted from the store."""
    known = {key.rpartition("/")[2] for key in await tools.store.pruning.known_repositories()}
    for name in await tools.mirrors.tidy(older_than=tools.keep.mirrors, known=known):
        logger.info("mirror removed", extra={"action": "mirror.pruned", "repository": name})
