"""What is kept, and for how long: once for all processes in the store, and by each on its own disk."""

from __future__ import annotations

import logging

from bot.worker.tools import Tools

COUNTERS_KEPT = 90 * 86_400.0
LOOKED_BACK = 3 * 3_600.0
"""Seconds: runs that ended since are looked at, in case a kill came between their end and their checkpoints'."""

logger = logging.getLogger(__name__)


async def prune(tools: Tools) -> None:
    """Drop what is older than the settings say, and hand the room back."""
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
        logger.info("all of a repository is forgotten", extra={"action": "forgotten", "repository": key})
    await store.shrink()


async def tidy_up(tools: Tools) -> None:
    """Remove mirrors of this machine that nobody used for long, or whose repository is forgotten."""
    known = {key.rpartition("/")[2] for key in await tools.store.pruning.known_repositories()}
    for name in await tools.mirrors.tidy(older_than=tools.keep.mirrors, known=known):
        logger.info("mirror removed", extra={"action": "mirror.pruned", "repository": name})
