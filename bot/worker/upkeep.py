"""What is done now and then besides jobs: ask for deliveries that were missed, drop what nobody needs any more."""

from __future__ import annotations

import asyncio
import logging
from datetime import UTC, datetime, timedelta

from bot.errors import BotError
from bot.handlers import HANDLERS
from bot.jobs import Score
from bot.ports import AppPort
from bot.store.deliveries import Arrival
from bot.store.tables import Store

PAUSE = 3_600.0
"""Seconds between two rounds."""
REACH = timedelta(days=3)
"""How far back GitHub redelivers."""
DONE_JOBS_KEPT = 7 * 86_400.0

logger = logging.getLogger(__name__)


async def keep_up(store: Store, app: AppPort) -> None:
    """Go round until cancelled; a round that fails is logged and the next one tries again."""
    while True:
        try:
            await catch_up(store, app)
            await look_for_fixes(store)
            await store.inbox.forget_old()
            await store.jobs.forget_done(DONE_JOBS_KEPT)
        except BotError as error:
            logger.warning("upkeep: %s", error, extra={"action": "upkeep_failed"})
        except Exception:  # the next round tries again, and jobs go on meanwhile
            logger.exception("upkeep failed", extra={"action": "upkeep_failed"})
        await asyncio.sleep(PAUSE)


async def look_for_fixes(store: Store) -> int:
    """Have the fixes of closed issues looked for that nobody found yet; says how many.

    An issue may be closed before its fix lands, or while nobody listened.
    """
    due = await store.outcomes.due()
    for one in due:
        work = Score(ref=one.ref)
        await store.inbox.accept(Arrival(f"score:{one.ref.key}:{one.run}:{one.looks}", "score", b"", (work,)))
    return len(due)


async def catch_up(store: Store, app: AppPort) -> int:
    """Ask GitHub again for what it could not hand over while nobody listened; says how many deliveries that were.

    GitHub does not redeliver by itself.
    """
    since = (datetime.now(UTC) - REACH).strftime("%Y-%m-%dT%H:%M:%SZ")
    asked = 0
    for delivery in await app.failed_deliveries(since):
        if delivery.event in HANDLERS and not await store.inbox.knows(delivery.guid):
            await app.redeliver(delivery.id)
            asked += 1
    if asked:
        logger.info("asked for %d missed deliveries", asked, extra={"action": "caught_up"})
    return asked
