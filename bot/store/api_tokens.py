"""Store tokens that read one repository's data over the HTTP API; only their digests are stored."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from hashlib import sha256

from bot.store.databases.database import Connection, Database

_PREFIX = "thr_"
_TOKEN = re.compile(r"thr_[A-Za-z0-9_-]{43}")
_ID = 12
"""Characters of the digest by which a token is named."""
_LIST = """
SELECT digest, label, created_at, owner, name
FROM api_tokens JOIN repositories ON repositories.repository_key = api_tokens.repository_key
ORDER BY created_at, digest
"""
MOST = 100
"""Limit on tokens of one repository."""


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


class ApiTokens:
    """The tokens of all repositories."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(self, repository_key: str, label: str = "") -> str:
        """Create a token for a repository and return it; it cannot be read again.

        Raises:
            TooManyTokensError: the repository has too many.
        """
        token, now = _PREFIX + secrets.token_urlsafe(32), self._database.clock()
        await self._database.do(lambda db: _create(db, token, repository_key, label, now))
        return token

    async def repository(self, token: str) -> str | None:
        """Return the key of the repository that a token reads; None for any other text."""
        if not _TOKEN.fullmatch(token):
            return None
        statement = "SELECT repository_key FROM api_tokens WHERE digest = ?"
        row = await self._database.read(lambda db: db.execute(statement, (_digest(token),)).fetchone())
        return str(row[0]) if row else None

    async def all(self) -> list[ApiToken]:
        """Return all tokens, the oldest first."""
        rows = await self._database.read(lambda db: db.execute(_LIST).fetchall())
        return [ApiToken(digest[:_ID], label, at, f"{owner}/{name}") for digest, label, at, owner, name in rows]

    async def revoke(self, token_id: str) -> bool:
        """Delete a token by its id; return whether there was one."""
        if not re.fullmatch(rf"[0-9a-f]{{{_ID}}}", token_id):
            return False
        statement = "DELETE FROM api_tokens WHERE substr(digest, 1, ?) = ?"
        return bool(await self._database.do(lambda db: db.execute(statement, (_ID, token_id)).rowcount))


def _create(db: Connection, token: str, repository_key: str, label: str, now: float) -> None:
    count = db.execute("SELECT count(*) FROM api_tokens WHERE repository_key = ?", (repository_key,)).fetchone()[0]
    if count >= MOST:
        raise TooManyTokensError
    statement = "INSERT INTO api_tokens (digest, repository_key, label, created_at) VALUES (?, ?, ?, ?)"
    db.execute(statement, (_digest(token), repository_key, label, now))


def _digest(token: str) -> str:
    # A token is 256 random bits, so a plain digest cannot be reversed by trying.
    return sha256(token.encode()).hexdigest()
