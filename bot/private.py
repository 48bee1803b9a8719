"""Keep files unreadable for other accounts: they contain code and issues of private repositories."""

from __future__ import annotations

import logging
import os
import stat
from pathlib import Path

UMASK = 0o077
_PARTS = ("repos", "clones", "backtest")

logger = logging.getLogger(__name__)


def restrict_umask() -> None:
    """Set the umask so that only the owner can read files of this process and its children."""
    os.umask(UMASK)


def restrict_permissions(directory: Path) -> None:
    """Remove other accounts' access to a data directory that an earlier release created; this covers its content."""
    try:
        for path in (directory, *(directory / part for part in _PARTS)):
            _close(path)
    except FileNotFoundError:
        return  # it is created later, under the private umask
    except OSError as error:
        logger.warning(
            "other accounts can read %s, and its permissions cannot be changed: %s",
            *(directory, error.strerror),
            extra={"action": "open_data"},
        )


def _close(path: Path) -> None:
    if not path.is_dir():
        return
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & stat.S_ISVTX:
        raise PermissionError(0, "it is a shared directory such as /tmp; set another TRIAGE_DATA_DIR")
    if mode & UMASK:
        path.chmod(mode & ~UMASK)
