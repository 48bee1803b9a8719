"""Asks GitHub periodically whether the installation of parked jobs is active again, in case its event was missed."""

from __future__ import annotations

import logging

from bot.errors import BotError
from bot.ports import AppPort, InstallationSeen, RepositoryRef
from bot.store.tables import Store

MOST = 200
"""Repositories per round. Those that were not checked are left to the next round."""

logger = logging.getLogger(__name__)


async def find_revived(store: Store, app: AppPort) -> int:
    """Queue parked jobs of repositories whose installation is active. Returns how many."""
    asked: dict[int, InstallationSeen | None] = {}
    revived = 0
    for ref in await store.installations.parked(MOST):
        try:
            revived += await _revive(store, app, ref, asked)
        except BotError as error:
            logger.info("%s", error, extra={"action": "not_asked", "repository": ref.key})
    if revived:
        logger.warning("%d parked jobs are queued again", revived, extra={"action": "unparked"})
    return revived


async def _revive(store: Store, app: AppPort, ref: RepositoryRef, asked: dict[int, InstallationSeen | None]) -> int:
    if ref.installation_id not in asked:
        asked[ref.installation_id] = await app.installation(ref.installation_id)
    seen = asked[ref.installation_id] or await app.installation_of(ref)
    if seen is None:
        return 0
    await store.installations.note(ref.host, seen.id, "", "suspended" if seen.suspended else "active")
    if seen.suspended:
        return 0
    if seen.id != ref.installation_id:  # removed and installed again
        await store.installations.add([RepositoryRef(ref.host, seen.id, ref.id, ref.owner, ref.name)])
    return await store.jobs.unpark([ref.key])
