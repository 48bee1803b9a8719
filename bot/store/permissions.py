"""Store people's permissions that were read from GitHub, so that many strangers cannot use up the reads."""

from __future__ import annotations

from bot.ports import Permission
from bot.store.databases.database import Database

_KEEP = """
INSERT INTO permissions (repository_key, login, level, at) VALUES (?, ?, ?, ?)
ON CONFLICT (repository_key, login) DO UPDATE SET level = excluded.level, at = excluded.at
"""


class StoredPermissions:
    """The known permissions of people in one repository."""

    def __init__(self, database: Database, repository_key: str) -> None:
        self._database = database
        self._key = repository_key

    async def of(self, logins: list[str]) -> dict[str, tuple[Permission, float]]:
        """Return the known permissions of some people by login in lower case, and when each was read."""
        wanted = tuple(dict.fromkeys(login.lower() for login in logins))
        if not wanted:
            return {}
        marks = ", ".join("?" for _ in wanted)
        statement = f"SELECT login, level, at FROM permissions WHERE repository_key = ? AND login IN ({marks})"  # noqa: S608  placeholders
        rows = await self._database.read(lambda db: db.execute(statement, (self._key, *wanted)).fetchall())
        return {login: (Permission(level), at) for login, level, at in rows}

    async def keep(self, login: str, permission: Permission) -> None:
        """Store a permission that was just read."""
        row = (self._key, login.lower(), int(permission), self._database.clock())
        await self._database.do(lambda db: db.execute(_KEEP, row).rowcount)
