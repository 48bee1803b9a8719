"""Permissions that an installation lacks: in the log, in the metrics, on the pages, and once to maintainers."""

from __future__ import annotations

import logging

from bot.ceilings import PERMISSION
from bot.errors import MissingPermissionError
from bot.metrics.measures import LIMITS
from bot.ports import RepositoryRef
from bot.store.tables import Store

_KNOWN = frozenset({"issues", "contents", "metadata"})
"""What the App asks for. Other names would be labels of a metric that GitHub chooses."""

logger = logging.getLogger(__name__)


async def note_missing(store: Store, ref: RepositoryRef, error: MissingPermissionError) -> None:
    """Say which permissions are missing. Reports and `/triage status` repeat it to maintainers."""
    for name in sorted(_KNOWN & set(error.permissions)) or ["unknown"]:
        code = f"{PERMISSION}.{name}"
        said = f"the installation lacks a permission ({name}): grant it in the installation's settings on GitHub"
        logger.warning("%s: %s", said, error, extra={"action": "permission_missing", "limit": code})
        LIMITS.labels(code).inc()
        await store.for_repository(ref).limited.note(code)
