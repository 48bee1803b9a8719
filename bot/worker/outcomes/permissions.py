"""Read the permissions of many people with few requests: known ones from the store, unknown ones in turn."""

from __future__ import annotations

from collections.abc import Iterable

from bot.ports import GitHubPort, Permission
from bot.store.access import StoredPermissions

FRESH = 7 * 86_400.0
"""Seconds after which a permission is read again."""
MAX_READS = 5
"""Permissions that one call reads from GitHub."""


async def permissions_of(
    logins: Iterable[str], stored: StoredPermissions, github: GitHubPort, now: float
) -> dict[str, Permission]:
    """Return the permissions of people by login; those that are not known yet are left out.

    People whose permission was never read come first, then those whose was read longest ago, so that each of many
    people has a turn after some calls.
    """
    names = list(dict.fromkeys(logins))
    known = await stored.of(names)
    never = (Permission.NONE, 0.0)
    due = [name for name in names if now - known.get(name.lower(), never)[1] > FRESH]
    # The sort is stable, so people of the same age stay in the order of their reactions.
    for name in sorted(due, key=lambda one: known.get(one.lower(), never)[1])[:MAX_READS]:
        permission = await github.permission(name)
        await stored.keep(name, permission)
        known[name.lower()] = (permission, now)
    return {name: known[name.lower()][0] for name in names if name.lower() in known}
