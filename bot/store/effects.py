"""Store the state that GitHub should have and whether it has it, to prevent duplicate posts."""

from datetime import UTC, datetime
from typing import Any

from bot.ports import Effect
from bot.store.databases.database import Connection, Keyed, of_key, transaction

# In the order in which `_effect` unpacks them.
_SELECT = "SELECT kind, subject, wanted_hash, payload, done_hash, intent_at, github_id FROM effects WHERE issue_key = ?"
_INSERT = """
INSERT INTO effects (issue_key, kind, subject, wanted_hash, payload, wanted_at) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (issue_key, kind, subject)
"""
_UPDATE = "DO UPDATE SET wanted_hash = excluded.wanted_hash, payload = excluded.payload"


def read_effect(db: Connection, key: str, kind: str, subject: str = "") -> Effect | None:
    """Return an effect; None if it was never stored."""
    row = db.execute(f"{_SELECT} AND kind = ? AND subject = ?", (key, kind, subject)).fetchone()
    return _effect(row) if row else None


class Effects(Keyed):
    """The effects of one issue; those of a repository itself have the key of its issue #0, which cannot exist."""

    get = of_key(read_effect)

    async def comment_id(self, kind: str, subject: str = "") -> int | None:
        """Return the id of the comment that was posted; None if none was."""
        effect = await self.get(kind, subject)
        return effect.github_id if effect is not None else None

    @transaction
    def set_wanted(
        self, db: Connection, kind: str, subject: str, wanted_hash: str, payload: str, *, first_wins: bool = False
    ) -> Effect:
        """Store the state that GitHub should have. Id, done hash and intent are retained.

        The latest call wins, or with ``first_wins`` the first of concurrent callers.
        """
        statement = f"{_INSERT} {'DO NOTHING' if first_wins else _UPDATE}"
        db.execute(statement, (self._key, kind, subject, wanted_hash, payload, self._clock()))
        effect = read_effect(db, self._key, kind, subject)
        if effect is None:
            raise RuntimeError("a row that was just written is missing")
        return effect

    async def forget(self, kind: str, subject: str = "") -> None:
        """Delete an effect: GitHub no longer has it, and the next one is posted as new."""
        statement = "DELETE FROM effects WHERE issue_key = ? AND kind = ? AND subject = ?"
        await self._change(statement, (self._key, kind, subject))

    async def record_intent(self, kind: str, subject: str, *, refused: bool = False) -> None:
        """Record, before a POST, that it is about to be sent; after one that was ``refused`` its grace is over."""
        # 0 is in the past by any clock, so the next attempt need not wait for a request in transit.
        statement = "UPDATE effects SET intent_at = ? WHERE issue_key = ? AND kind = ? AND subject = ?"
        await self._change(statement, (0.0 if refused else self._clock(), self._key, kind, subject))

    async def record_done(self, kind: str, subject: str, done_hash: str, github_id: int | None = None) -> None:
        """Record that GitHub has the effect, and clear the intent."""
        # An edit has no new id. coalesce retains the id of the POST.
        statement = """
            UPDATE effects SET done_hash = ?, intent_at = NULL, github_id = coalesce(?, github_id)
            WHERE issue_key = ? AND kind = ? AND subject = ?
        """
        await self._change(statement, (done_hash, github_id, self._key, kind, subject))

    async def pending(self) -> list[Effect]:
        """Return effects that are wanted and not done, oldest first."""
        # Oldest first by ``wanted_at``, which later calls do not change: a postponed effect retains its place.
        statement = f"{_SELECT} AND (done_hash IS NULL OR done_hash <> wanted_hash) ORDER BY wanted_at"
        return [_effect(row) for row in await self._rows(statement, (self._key,))]

    async def with_prefix(self, kind: str, prefix: str) -> list[Effect]:
        """Return effects of a kind whose subject begins with a prefix, done or not, ordered by subject."""
        # Not LIKE: "_" in a prefix would match any character, and SQLite's LIKE ignores case.
        statement = f"{_SELECT} AND kind = ? AND substr(subject, 1, ?) = ? ORDER BY subject"
        return [_effect(row) for row in await self._rows(statement, (self._key, kind, len(prefix), prefix))]


def _effect(row: tuple[Any, ...]) -> Effect:
    kind, subject, wanted_hash, payload, done_hash, intent_at, github_id = row
    at = None if intent_at is None else datetime.fromtimestamp(intent_at, UTC)
    return Effect(kind, subject, wanted_hash, payload, done_hash, at, github_id)
