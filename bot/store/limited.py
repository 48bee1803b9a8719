"""Store which limits a repository reached each day, to tell maintainers once a day."""

from __future__ import annotations

from bot.ceilings import day_of
from bot.store.database import Connection, Database

_NOTE = """
INSERT INTO limited (repository_key, day, what, times) VALUES (?, ?, ?, 1)
ON CONFLICT (repository_key, day, what) DO UPDATE SET times = limited.times + 1
"""
# The first issue that reports limits today reports all that are known then, and keeps them when its report is
# rewritten.
_TELL = """
UPDATE limited SET told = :issue WHERE repository_key = :key AND day = :day AND NOT EXISTS (
    SELECT 1 FROM limited AS other
    WHERE other.repository_key = :key AND other.day = :day AND other.told <> :issue
)
"""
# A missing permission is reported once: it is still missing on the next day.
_REPORTED = """
SELECT what FROM limited WHERE repository_key = :key AND day = :day AND told = :issue AND NOT EXISTS (
    SELECT 1 FROM limited AS before
    WHERE before.repository_key = :key AND before.day < :day AND before.what = limited.what
      AND before.told <> :issue AND before.what LIKE 'permission.%'
) ORDER BY what
"""


class RepositoryLimited:
    """The limits of one repository."""

    def __init__(self, database: Database, repository_key: str) -> None:
        self._database = database
        self._key = repository_key

    async def note(self, what: str) -> None:
        """Count that a limit was reached, by its code, such as ``repository.tokens``."""
        given = (self._key, self._today(), what)
        await self._database.do(lambda db: db.execute(_NOTE, given).rowcount)

    async def today(self) -> dict[str, int]:
        """Return the limits that were reached today, and how often."""
        today = self._today()
        return await self._database.read(lambda db: read_limited(db, self._key, today))

    async def unreported(self, issue_key: str) -> tuple[str, ...]:
        """Return the limits that this issue's report shows; empty if another issue's report has shown them today."""
        day = self._today()
        given = {"issue": issue_key, "key": self._key, "day": day}
        await self._database.do(lambda db: db.execute(_TELL, given).rowcount)
        return tuple(what for (what,) in await self._database.read(lambda db: db.execute(_REPORTED, given).fetchall()))

    def _today(self) -> str:
        return day_of(self._database.clock())


def read_limited(db: Connection, repository_key: str, day: str) -> dict[str, int]:
    """Return the limits that were reached on a day, and how often, within a larger transaction."""
    statement = "SELECT what, times FROM limited WHERE repository_key = ? AND day = ? ORDER BY what"
    return dict(db.execute(statement, (repository_key, day)).fetchall())
