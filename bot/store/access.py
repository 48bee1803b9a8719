"""Tables about access: tokens, ended sessions, people's permissions; and the separation of repositories."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from hashlib import sha256

from bot.ports import Permission
from bot.store.databases.database import Connection, Keyed, Table, transaction

_PREFIX = "thr_"
_TOKEN = re.compile(r"thr_[A-Za-z0-9_-]{43}")
_ID = 12
"""Number of characters of the digest that are a token's id."""
_LIST = """
SELECT digest, label, created_at, owner, name
FROM api_tokens JOIN repositories ON repositories.repository_key = api_tokens.repository_key
ORDER BY created_at, digest
"""
MAX_TOKENS = 100
"""Limit on tokens of one repository."""
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


@dataclass(frozen=True, slots=True)
class ApiToken:
    """A stored token, which cannot be shown again."""

    id: str
    """The first characters of its digest."""
    label: str
    created_at: float
    repository: str
    """The current owner/name."""


class TooManyTokensError(Exception):
    """The repository has as many tokens as are allowed."""


class ApiTokens(Table):
    """The tokens of all repositories."""

    @transaction
    def create(self, db: Connection, repository_key: str, label: str = "") -> str:
        """Create a token for a repository and return it; it cannot be read again.

        Raises:
            TooManyTokensError: the repository has too many.
        """
        count = db.execute("SELECT count(*) FROM api_tokens WHERE repository_key = ?", (repository_key,)).fetchone()[0]
        if count >= MAX_TOKENS:
            raise TooManyTokensError
        token = _PREFIX + secrets.token_urlsafe(32)
        statement = "INSERT INTO api_tokens (digest, repository_key, label, created_at) VALUES (?, ?, ?, ?)"
        db.execute(statement, (_digest(token), repository_key, label, self._clock()))
        return token

    async def repository(self, token: str) -> str | None:
        """Return the key of the repository that a token reads; None for any other text."""
        if not _TOKEN.fullmatch(token):
            return None
        statement = "SELECT repository_key FROM api_tokens WHERE digest = ?"
        row = await self._row(statement, (_digest(token),))
        return str(row[0]) if row else None

    async def all(self) -> list[ApiToken]:
        """Return all tokens, the oldest first."""
        rows = await self._rows(_LIST)
        return [ApiToken(digest[:_ID], label, at, f"{owner}/{name}") for digest, label, at, owner, name in rows]

    async def revoke(self, token_id: str) -> bool:
        """Delete a token by its id; return whether there was one."""
        if not re.fullmatch(rf"[0-9a-f]{{{_ID}}}", token_id):
            return False
        statement = "DELETE FROM api_tokens WHERE substr(digest, 1, ?) = ?"
        return bool(await self._change(statement, (_ID, token_id)))


def _digest(token: str) -> str:
    # A token is 256 random bits, so a plain digest cannot be reversed by trying.
    return sha256(token.encode()).hexdigest()


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
