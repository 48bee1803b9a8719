"""Tables about access: ended sessions, people's permissions; and the separation of repositories."""

from __future__ import annotations

from dataclasses import dataclass

from bot.ports import Permission
from bot.store.databases.database import Connection, Keyed, Table, transaction

_KEEP = """
INSERT INTO permissions (repository_key, login, level, at) VALUES (?, ?, ?, ?)
ON CONFLICT (repository_key, login) DO UPDATE SET level = excluded.level, at = excluded.at
"""


class ForeignKeyError(RuntimeError):
    """A key of one repository was used under another."""


@dataclass(frozen=True, slots=True)
class Tenant:
    """One repository, by its immutable key."""

    repository_key: str

    def own(self, issue_key: str) -> str:
        """Return the key if it is an issue of this repository.

        Raises:
            ForeignKeyError: it is another's.
        """
        if not issue_key.startswith(f"{self.repository_key}#"):
            raise ForeignKeyError(f"{issue_key} is not in {self.repository_key}")
        return issue_key

    def issue(self, number: int) -> str:
        """Return the key of one of its issues."""
        return f"{self.repository_key}#{number}"


class EndedSessions(Table):
    """Ended sessions, for all servers that share the store.

    A signed cookie is valid until it expires and cannot be revoked, so ended sessions are listed.
    """

    @transaction
    def end(self, db: Connection, session: str, lasts: float) -> None:
        """End a session whose cookie would be valid for at most this many seconds."""
        now = self._clock()
        db.execute("DELETE FROM ended_sessions WHERE until < ?", (now,))
        db.execute(
            "INSERT INTO ended_sessions (id, until) VALUES (?, ?) ON CONFLICT DO NOTHING", (session, now + lasts)
        )

    async def has_ended(self, session: str) -> bool:
        """Return whether a session was ended."""
        return await self._row("SELECT 1 FROM ended_sessions WHERE id = ?", (session,)) is not None


class StoredPermissions(Keyed):
    """The known permissions of people in one repository, so that many strangers cannot use up the reads of GitHub."""

    async def of(self, logins: list[str]) -> dict[str, tuple[Permission, float]]:
        """Return the known permissions of some people by login in lower case, and when each was read."""
        wanted = tuple(dict.fromkeys(login.lower() for login in logins))
        if not wanted:
            return {}
        marks = ", ".join("?" for _ in wanted)
        statement = f"SELECT login, level, at FROM permissions WHERE repository_key = ? AND login IN ({marks})"
        rows = await self._rows(statement, (self._key, *wanted))
        return {login: (Permission(level), at) for login, level, at in rows}

    async def keep(self, login: str, permission: Permission) -> None:
        """Store a permission that was just read."""
        await self._change(_KEEP, (self._key, login.lower(), int(permission), self._clock()))
