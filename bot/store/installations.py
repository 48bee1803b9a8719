"""Store installations, repositories and ended sessions: where the App may work, and who may no longer."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from bot.ports import RepositoryRef
from bot.store.databases.database import Connection, Keyed, TableGroup, transaction

_REF = "repositories.host, installation_id, repository_key, repositories.owner, name"
# A repository may be stored before its installation's own delivery arrives. It then counts as active.
_FROM = """
FROM repositories LEFT JOIN installations
    ON installations.host = repositories.host AND installations.id = installation_id
"""
# Id 0 means that no payload has named the installation, so no token can be requested.
_ACTIVE = "gone = 0 AND archived = 0 AND installation_id <> 0 AND coalesce(state, 'active') = 'active'"
# The empty string sorts first: repositories that were never listed come before all others.
_TO_LIST = f"""
SELECT listed_until, {_REF} {_FROM} WHERE {_ACTIVE} ORDER BY coalesce(listed_until, ''), repository_key LIMIT ?
"""
# An issue's key without its digits and "#" is its repository's key.
_PARKED = f"""
SELECT DISTINCT {_REF} FROM jobs JOIN repositories ON repository_key = rtrim(rtrim(issue_key, '0123456789'), '#')
WHERE jobs.state = 'parked' AND installation_id <> 0 ORDER BY repository_key LIMIT ?
"""
_NAMED = f"""
SELECT {_REF} FROM repositories WHERE lower(owner || '/' || name) = lower(?) AND gone = 0 AND installation_id <> 0
"""
_STATE = f"""
SELECT installation_id, archived, gone, coalesce(state, 'active') {_FROM} WHERE repository_key = ?
"""
InstallationState = Literal["active", "suspended", "deleted"]


@dataclass(frozen=True, slots=True)
class RepositoryState:
    """A repository's row, with the state of its installation."""

    installation_id: int
    archived: int
    gone: int
    installation: InstallationState


class Listed(NamedTuple):
    """A repository, and when its issues were last listed."""

    ref: RepositoryRef
    until: str | None
    """Timestamp in GitHub's format; None if the issues were never listed."""


class Installations(TableGroup):
    """All installations and their repositories; unlike ``RepositoryStore``, not limited to one repository."""

    async def note(self, host: str, installation_id: int, account: str, state: InstallationState) -> None:
        """Store the state of an installation: active, suspended or deleted."""
        # A caller that does not know the account passes an empty one; the stored one is retained.
        statement = """
            INSERT INTO installations (host, id, account, state) VALUES (?, ?, ?, ?)
            ON CONFLICT (host, id) DO UPDATE SET state = excluded.state,
                account = CASE WHEN excluded.account = '' THEN installations.account ELSE excluded.account END
        """
        await self._change(statement, (host, installation_id, account, state))

    @transaction
    def add(self, db: Connection, repositories: Sequence[RepositoryRef]) -> None:
        """Store repositories that the App may read, under their current names."""
        # A payload without an installation has the id 0, which must not replace a known id.
        statement = """
            INSERT INTO repositories (repository_key, host, installation_id, owner, name) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (repository_key) DO UPDATE SET gone = 0, gone_at = NULL,
                owner = excluded.owner, name = excluded.name,
                installation_id = CASE WHEN excluded.installation_id = 0 THEN repositories.installation_id
                    ELSE excluded.installation_id END
        """
        rows = [(ref.key, ref.host, ref.installation_id, ref.owner, ref.name) for ref in repositories]
        db.executemany(statement, rows)

    @transaction
    def remove(self, db: Connection, keys: Sequence[str]) -> None:
        """Mark repositories as deleted or removed from the installation."""
        # The first removal counts: a repeated delivery must not restart the retention time.
        statement = "UPDATE repositories SET gone = 1, gone_at = coalesce(gone_at, ?) WHERE repository_key = ?"
        db.executemany(statement, [(self._clock(), key) for key in keys])

    async def archive(self, key: str, *, archived: bool, private: bool) -> None:
        """Store whether a repository is archived, which makes it read-only, and whether it is private."""
        statement = "UPDATE repositories SET archived = ?, private = ? WHERE repository_key = ?"
        await self._change(statement, (int(archived), int(private), key))

    async def of(self, host: str, installation_id: int) -> list[str]:
        """Return the keys of an installation's repositories."""
        statement = "SELECT repository_key FROM repositories WHERE host = ? AND installation_id = ?"
        return [key for (key,) in await self._rows(statement, (host, installation_id))]

    async def keys_of(self, full_name: str) -> list[str]:
        """Return the keys of repositories whose last known name is this one, ignoring case; includes removed ones."""
        statement = "SELECT repository_key FROM repositories WHERE lower(owner || '/' || name) = lower(?)"
        return [key for (key,) in await self._rows(statement, (full_name,))]

    async def to_list(self, limit: int) -> list[Listed]:
        """Return active repositories; the one whose issues were listed longest ago is first."""
        return [Listed(_ref(*where), until) for until, *where in await self._rows(_TO_LIST, (limit,))]

    async def parked(self, limit: int) -> list[RepositoryRef]:
        """Return the repositories that have parked jobs."""
        return [_ref(*where) for where in await self._rows(_PARKED, (limit,))]

    async def listed(self, key: str, until: str) -> None:
        """Record that all issues of a repository opened before ``until`` are known."""
        await self._change("UPDATE repositories SET listed_until = ? WHERE repository_key = ?", (until, key))

    async def named(self, full_name: str) -> RepositoryRef | None:
        """Find an accessible repository by its current name, ignoring case; None if no delivery named it."""
        row = await self._row(_NAMED, (full_name,))
        return _ref(*row) if row else None

    async def repository(self, key: str) -> RepositoryState | None:
        """Return the state of a repository; None if no delivery has named it yet."""
        row = await self._row(_STATE, (key,))
        return RepositoryState(*row) if row else None


class StoredConfig(Keyed):
    """The stored configuration of one repository."""

    async def last_valid(self) -> str | None:
        """Return the last valid configuration; None if there was none."""
        row = await self._row("SELECT config FROM repositories WHERE repository_key = ?", (self._key,))
        return None if row is None else row[0]

    async def keep(self, text: str) -> None:
        """Store a valid configuration."""
        await self._change("UPDATE repositories SET config = ? WHERE repository_key = ?", (text, self._key))


class EndedSessions(TableGroup):
    """Ended sessions, for all servers that share the store: a signed cookie cannot be revoked."""

    @transaction
    def end(self, db: Connection, session: str, lasts: float) -> None:
        """End a session whose cookie would be valid for at most this many seconds."""
        now = self._clock()
        db.execute("DELETE FROM ended_sessions WHERE until < ?", (now,))
        statement = "INSERT INTO ended_sessions (id, until) VALUES (?, ?) ON CONFLICT DO NOTHING"
        db.execute(statement, (session, now + lasts))

    async def has_ended(self, session: str) -> bool:
        """Return whether a session was ended."""
        return await self._row("SELECT 1 FROM ended_sessions WHERE id = ?", (session,)) is not None


def _ref(host: str, installation_id: int, key: str, owner: str, name: str) -> RepositoryRef:
    return RepositoryRef(host, installation_id, int(key.rpartition("/")[2]), owner, name)
