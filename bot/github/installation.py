"""Queries installations of the App, authenticated as the App."""

from __future__ import annotations

from collections.abc import Mapping

from bot.errors import GoneError, RetryableError
from bot.github.session import Session
from bot.ports import InstallationSeen

_LEVELS = ("read", "write", "admin")


async def find_installation(session: Session, path: str) -> InstallationSeen | None:
    """The installation at a path of the API; None if there is none.

    Raises:
        RetryableError: GitHub's response cannot be read.
    """
    try:
        answer = await session.send("GET", path, authorization=await session.app_authorization())
        response = answer.object()
        granted = response.get("permissions") or {}
        permissions = {str(name): str(level) for name, level in granted.items()}
        return InstallationSeen(
            int(response["id"]), suspended=bool(response.get("suspended_at")), permissions=permissions
        )
    except GoneError:
        return None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise RetryableError("GitHub's answer about an installation cannot be read") from error


def lacking(granted: Mapping[str, str], needed: Mapping[str, str]) -> tuple[str, ...]:
    """The needed permissions that were not granted, by name."""
    return tuple(name for name, level in needed.items() if _level(granted.get(name)) < _level(level))


def _level(name: str | None) -> int:
    return _LEVELS.index(name) if name in _LEVELS else -1
