"""Query repositories and the outcomes of their reports for the web pages."""

from dataclasses import dataclass

from bot.store.databases.database import Connection, Table, query
from bot.store.pages.rows import Keys, visible
from bot.store.runs.outcomes import OutcomeState

COLUMNS = """
repositories.repository_key, owner, name, archived, gone,
(SELECT count(*) FROM runs WHERE runs.repository_key = repositories.repository_key),
(SELECT max(began_at) FROM runs WHERE runs.repository_key = repositories.repository_key)
"""


@dataclass(frozen=True, slots=True)
class RepositoryRow:
    """One repository."""

    key: str
    owner: str
    name: str
    archived: bool
    gone: bool
    """The repository was deleted or removed from the installation."""
    runs: int
    last_began: float | None

    @property
    def full_name(self) -> str:
        """The current owner/name."""
        return f"{self.owner}/{self.name}"


@dataclass(frozen=True, slots=True)
class OutcomeRow:
    """A report of a repository, and how it compared with the fix."""

    issue: int
    run: int
    claimed: bool
    confidence: float
    state: OutcomeState
    rank: int
    """Rank of the first named file that the fix changed, from 1; 0: none."""
    settled_at: float | None
    """None while the outcome is open, or if an older release settled it."""


@dataclass(frozen=True, slots=True)
class DailyUsage:
    """The usage of one day."""

    day: str
    calls: int
    tokens: int
    cost: int
    """Millionths of a dollar."""
    issues: int
    limits: tuple[tuple[str, int], ...]
    """The limits that were reached, by code, and how often."""


class Repositories(Table):
    """All known repositories."""

    async def all(self, keys: Keys) -> list[RepositoryRow]:
        """Return the repositories that have runs, by name."""
        allowed, parameters = visible("repositories.repository_key", keys)
        statement = f"""
            SELECT {COLUMNS} FROM repositories
            WHERE {allowed} AND EXISTS (SELECT 1 FROM runs WHERE runs.repository_key = repositories.repository_key)
            ORDER BY lower(owner), lower(name), repositories.repository_key
        """
        return [read_repository(row) for row in await self._rows(statement, parameters)]

    async def named(self, owner: str, name: str) -> RepositoryRow | None:
        """Find a repository by its current name, ignoring case; an existing one comes before a removed one."""
        statement = f"""
            SELECT {COLUMNS} FROM repositories WHERE lower(owner) = lower(?) AND lower(name) = lower(?)
            ORDER BY gone, repositories.repository_key LIMIT 1
        """
        row = await self._row(statement, (owner, name))
        return read_repository(row) if row else None

    async def outcomes(self, keys: Keys) -> list[OutcomeRow]:
        """Return the outcomes of their reports, the earliest first; those without a time come first."""
        allowed, parameters = visible("repository_key", keys)
        # SQLite sorts NULL first and Postgres last, so the order states the place of NULL.
        statement = f"""
            SELECT issue_key, run_no, claimed, confidence, state, rank, settled_at FROM outcomes
            WHERE {allowed} AND named <> '[]'
            ORDER BY settled_at IS NOT NULL, settled_at, issue_key
        """
        rows = await self._rows(statement, parameters)
        return [
            OutcomeRow(int(issue.rpartition("#")[2]), run, bool(claimed), *rest) for issue, run, claimed, *rest in rows
        ]

    @query
    def spent(self, db: Connection, key: str, days: int = 14) -> list[DailyUsage]:
        """Return the usage of the latest days that have any, the latest first."""
        used = "SELECT day, calls, tokens, cost_micros, issues FROM usage WHERE scope = ? ORDER BY day DESC LIMIT ?"
        rows = {day: amounts for day, *amounts in db.execute(used, (key, days))}
        reached: dict[str, list[tuple[str, int]]] = {}
        limited = "SELECT day, what, times FROM limited WHERE repository_key = ? ORDER BY day DESC, what LIMIT ?"
        for day, what, times in db.execute(limited, (key, 20 * days)):
            reached.setdefault(day, []).append((what, times))
        latest = sorted({*rows, *reached}, reverse=True)[:days]
        found = []
        for day in latest:
            calls, tokens, cost, issues = rows.get(day, (0, 0, 0, 0))
            found.append(DailyUsage(day, calls, tokens, cost, issues, tuple(reached.get(day, ()))))
        return found


def read_repository(row: tuple[str, str, str, int, int, int, float | None]) -> RepositoryRow:
    """Convert a row of ``COLUMNS`` to a repository."""
    key, owner, name, archived, gone, runs, last = row
    return RepositoryRow(key, owner, name, bool(archived), bool(gone), runs, last)
