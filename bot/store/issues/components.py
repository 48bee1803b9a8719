"""Store the words that people taught for places of a repository: hints for its searches, never facts."""

from __future__ import annotations

from bot.ports import TaughtWord
from bot.store.databases.database import Connection, Database

MAX_WORDS = 200
"""Words that are stored for one repository."""
_ALL = "SELECT word, path FROM components WHERE repository_key = ? ORDER BY word LIMIT ?"
_FORGET = "DELETE FROM components WHERE repository_key = ? AND word = ?"
_TEACH = """
INSERT INTO components (repository_key, word, path, actor, at) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (repository_key, word) DO UPDATE SET path = excluded.path, actor = excluded.actor, at = excluded.at
"""
_COUNT = "SELECT count(*) FROM components WHERE repository_key = ? AND word <> ?"


class Components:
    """The words of one repository."""

    def __init__(self, database: Database, repository_key: str) -> None:
        self._database = database
        self._key = repository_key

    async def all(self) -> tuple[TaughtWord, ...]:
        """Return the words with their paths, in alphabetical order."""
        rows = await self._database.read(lambda db: db.execute(_ALL, (self._key, MAX_WORDS)).fetchall())
        return tuple(TaughtWord(word, path) for word, path in rows)


def teach(db: Connection, repository_key: str, taught: TaughtWord, actor: str, now: float) -> None:
    """Store or forget a word, within a transaction; a new word beyond ``MAX_WORDS`` is not stored."""
    if not taught.path:
        db.execute(_FORGET, (repository_key, taught.word))
        return
    # The lock makes the count and the insertion one step: two commands at once must not both store the last allowed
    # word.
    db.lock([repository_key])
    (others,) = db.execute(_COUNT, (repository_key, taught.word)).fetchone()
    if others < MAX_WORDS:
        db.execute(_TEACH, (repository_key, taught.word, taught.path, actor, now))
