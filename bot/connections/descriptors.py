"""How many connections the process can hold with the file descriptors that it has."""

from __future__ import annotations

import logging
import resource

MOST = 512
"""Connections, whatever the descriptors allow: each may hold some 100 kB."""
RESERVED = 96
"""Descriptors for the store, the log, the worker's pipes and calls of GitHub."""
FEWEST = 64
_WANTED = 4_096

logger = logging.getLogger(__name__)


def connection_limit() -> int:
    """Raise the soft limit of descriptors as far as needed and allowed; return how many connections fit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _WANTED if hard == resource.RLIM_INFINITY else min(hard, _WANTED)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        soft = wanted
    return fitting(_WANTED if soft == resource.RLIM_INFINITY else soft)


def fitting(descriptors: int) -> int:
    """The connections that fit; a quarter stays free for those that are accepted before others are closed."""
    most = max(FEWEST, min(MOST, (descriptors - RESERVED) * 3 // 4))
    if most < MOST:
        logger.warning(
            "%s file descriptors allow %s connections: raise the limit (ulimit -n) to %s for all %s",
            *(descriptors, most, MOST * 4 // 3 + RESERVED + 1, MOST),
            extra={"action": "few_descriptors"},
        )
    return most
