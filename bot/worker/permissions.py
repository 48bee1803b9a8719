"""Records permissions that an installation lacks: in the log, the metrics, the pages, and once for maintainers."""

from __future__ import annotations

import logging

from bot.ceilings import PERMISSION
from bot.errors import MissingPermissionError
from bot.metrics.measures import LIMITS
from bot.ports import RepositoryRef
from bot.store.tables import Store

_KNOWN = frozenset({"issues", "contents", "metadata"})
"""Permissions that the App asks for. Others count as "unknown", or GitHub would choose the values of a metric label."""

logger = logging.getLogger(__name__)


async def note_missing(store: Store, ref: RepositoryRef, error: MissingPermissionError) -> None:
    """Record which permissions are missing. Reports and `/triage status` repeat it to maintainers."""
    for name in sorted(_KNOWN & set(error.permissions)) or ["unknown"]:
        code = f"{PERMISSION}.{name}"
        message = f"the installation lacks a permission ({name}): grant it in the installation's settings on GitHub"
        logger.warning("%s: %s", message, error, extra={"action": "permission_missing", "limit": code})
        LIMITS.labels(code).inc()
        await store.for_repository(ref).limited.note(code)
