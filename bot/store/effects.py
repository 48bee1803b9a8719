"""Store the state that GitHub should have and whether it has it, to prevent duplicate posts."""

from datetime import UTC, datetime
from typing import Any

from bot.ports import Effect
from bot.store.databases.database import Connection, Keyed, Value, query, transaction

# In the order in which `_effect` unpacks them.
_FIELDS = "kind, subject, wanted_hash, payload, done_hash, intent_at, github_id"
_INSERT = """
INSERT INTO effects (issue_key, kind, subject, wanted_hash, payload, wanted_at) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (issue_key, kind, subject)
"""
_LATEST_WINS = f"{_INSERT} DO UPDATE SET wanted_hash = excluded.wanted_hash, payload = excluded.payload"
_FIRST_WINS = f"{_INSERT} DO NOTHING"
_Key = tuple[str, str, str]
"""An issue's key, the kind of an effect and its subject."""


class Effects(Keyed):
    """The effects of one repository's issues."""

    @query
    def get(self, db: Connection, issue_key: str, kind: str, subject: str = "") -> Effect | None:
        """Return an effect; None if it was never stored."""
        return _get(db, (self._own(issue_key), kind, subject))

    async def set_wanted(self, issue_key: str, kind: str, subject: str, wanted_hash: str, payload: str) -> Effect:
        """Store the state that GitHub should have; the latest call wins. Id, done hash and intent are retained."""
        return await self._insert(_LATEST_WINS, (self._own(issue_key), kind, subject), wanted_hash, payload)

    async def claim(self, issue_key: str, kind: str, subject: str, payload: str) -> Effect:
        """Store the state that GitHub should have unless it is stored: the first of concurrent callers wins."""
        # A claim's payload is a short key, so it serves as its own hash.
        return await self._insert(_FIRST_WINS, (self._own(issue_key), kind, subject), payload, payload)

    @transaction
    def _insert(self, db: Connection, statement: str, key: _Key, wanted_hash: str, payload: str) -> Effect:
        db.execute(statement, (*key, wanted_hash, payload, self._clock()))
        effect = _get(db, key)
        if effect is None:
            raise RuntimeError("a row that was just written is missing")
        return effect

    async def forget(self, issue_key: str, kind: str, subject: str = "") -> None:
        """Delete an effect: GitHub no longer has it, and the next one is posted as new."""
        key = (self._own(issue_key), kind, subject)
        await self._change("DELETE FROM effects WHERE issue_key = ? AND kind = ? AND subject = ?", key)

    async def record_intent(self, issue_key: str, kind: str, subject: str) -> None:
        """Record durably, before a POST is sent, that it is about to be sent."""
        await self._set_intent(self._clock(), (self._own(issue_key), kind, subject))

    async def record_refusal(self, issue_key: str, kind: str, subject: str) -> None:
        """Record that GitHub refused the POST. The intent stays, so the next attempt searches; its grace is over."""
        # 0 is in the past by any clock, so the next attempt need not wait for a request in transit.
        await self._set_intent(0.0, (self._own(issue_key), kind, subject))

    async def _set_intent(self, at: float, key: _Key) -> None:
        statement = "UPDATE effects SET intent_at = ? WHERE issue_key = ? AND kind = ? AND subject = ?"
        await self._change(statement, (at, *key))

    async def record_done(
        self, issue_key: str, kind: str, subject: str, done_hash: str, github_id: int | None = None
    ) -> None:
        """Record that GitHub has the effect, and clear the intent."""
        key = (self._own(issue_key), kind, subject)
        # An edit has no new id. coalesce retains the id of the POST.
        statement = """
            UPDATE effects SET done_hash = ?, intent_at = NULL, github_id = coalesce(?, github_id)
            WHERE issue_key = ? AND kind = ? AND subject = ?
        """
        await self._change(statement, (done_hash, github_id, *key))

    async def pending(self, issue_key: str) -> list[Effect]:
        """Return effects that are wanted and not done, oldest first."""
        key = self._own(issue_key)
        # Oldest first by ``wanted_at``, which later calls do not change: a postponed effect retains its place.
        statement = f"""
            SELECT {_FIELDS} FROM effects
            WHERE issue_key = ? AND (done_hash IS NULL OR done_hash <> wanted_hash) ORDER BY wanted_at
        """
        rows = await self._rows(statement, (key,))
        return [_effect(row) for row in rows]

    async def with_prefix(self, issue_key: str, kind: str, prefix: str) -> list[Effect]:
        """Return effects of a kind whose subject begins with a prefix, done or not, ordered by subject."""
        parameters: dict[str, Value] = {"key": self._own(issue_key), "kind": kind, "prefix": prefix}
        # Not LIKE: "_" in a prefix would match any character, and SQLite's LIKE ignores case.
        statement = f"""
            SELECT {_FIELDS} FROM effects
            WHERE issue_key = :key AND kind = :kind AND substr(subject, 1, length(:prefix)) = :prefix ORDER BY subject
        """
        rows = await self._rows(statement, parameters)
        return [_effect(row) for row in rows]


def _get(db: Connection, key: _Key) -> Effect | None:
    statement = f"SELECT {_FIELDS} FROM effects WHERE issue_key = ? AND kind = ? AND subject = ?"
    row = db.execute(statement, key).fetchone()
    return _effect(row) if row else None


def _effect(row: tuple[Any, ...]) -> Effect:
    kind, subject, wanted_hash, payload, done_hash, intent_at, github_id = row
    at = None if intent_at is None else datetime.fromtimestamp(intent_at, UTC)
    return Effect(kind, subject, wanted_hash, payload, done_hash, at, github_id)
