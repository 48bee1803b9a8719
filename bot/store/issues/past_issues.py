"""Store what earlier issues of a repository say: hashes of their words, never their text, and their crashes."""

from collections.abc import Sequence
from dataclasses import astuple, dataclass

from bot.store.databases.database import Connection, Database, Keyed, of_key, query, transaction, upsert
from nodes.search.issue.similar import VERSION, IssueWords

MAX_COMPARED = 50_000
"""An issue is compared with at most this many of the newest ones; this bounds the cost of a comparison."""
WITHIN = 86_400.0
"""Seconds within which reports of one crash count together."""
REPORTERS = 3
"""Different reporters whose reports of one crash lead to an alert."""
_NOTE = """
INSERT INTO crashes (repository_key, fingerprint, issue_key, reporter, at) VALUES (?, ?, ?, ?, ?)
ON CONFLICT DO NOTHING
"""
_RECENT = """
SELECT issue_key, reporter FROM crashes
WHERE repository_key = ? AND fingerprint = ? AND at > ? ORDER BY at, issue_key LIMIT 200
"""


@dataclass(frozen=True, slots=True)
class StoredIssue:
    """One row."""

    number: int
    is_open: bool
    updated_at: str
    """Timestamp in GitHub's format; such strings sort by time."""
    words: IssueWords


@dataclass(frozen=True, slots=True)
class ReadingProgress:
    """Progress of reading a repository's old issues."""

    page: int = 1
    seen: int = 0
    finished: bool = False


@dataclass(frozen=True, slots=True)
class Crash:
    """The crashes that one issue reports."""

    fingerprints: tuple[str, ...]
    reporter: int
    """Id of the issue's author."""
    at: float
    """When the issue was opened, in seconds since 1970."""


@dataclass(frozen=True, slots=True)
class Storm:
    """Several reports of one crash within ``WITHIN``."""

    fingerprint: str
    issues: tuple[int, ...]
    reporters: int


def read_crashes(db: Connection, repository: str, fingerprint: str, until: float) -> Storm:
    """Return the reports of a crash in the ``WITHIN`` seconds before a time."""
    rows: Sequence[tuple[str, int]] = db.execute(_RECENT, (repository, fingerprint, until - WITHIN)).fetchall()
    issues = tuple(int(key.rpartition("#")[2]) for key, _ in rows)
    return Storm(fingerprint, issues, len({reporter for _, reporter in rows}))


class PastIssues(Keyed):
    """The past issues of one repository, and their crashes."""

    def __init__(self, database: Database, key: str) -> None:
        super().__init__(database, key)
        self._started: ReadingProgress | None = None

    recent_crashes = of_key(read_crashes)

    @transaction
    def keep(self, db: Connection, issues: Sequence[StoredIssue]) -> None:
        """Store issues as they were read; a row with a later ``updated_at`` is retained."""
        _keep(db, self._key, issues)

    async def mark(self, number: int, *, is_open: bool) -> None:
        """Mark a stored issue as open or closed; an issue that is not stored is ignored."""
        # ``updated_at`` is left, so that the next read of the text still replaces the row.
        statement = "UPDATE past_issues SET is_open = ? WHERE repository_key = ? AND number = ?"
        await self._change(statement, (int(is_open), self._key, number))

    async def forget(self, number: int) -> None:
        """Delete an issue that is no longer in the repository."""
        statement = "DELETE FROM past_issues WHERE repository_key = ? AND number = ?"
        await self._change(statement, (self._key, number))

    @transaction
    def clear(self, db: Connection) -> None:
        """Delete all past issues of the repository."""
        db.execute("DELETE FROM past_issues WHERE repository_key = ?", (self._key,))
        db.execute("DELETE FROM past_walks WHERE repository_key = ?", (self._key,))
        self._started = None

    async def before(self, number: int) -> list[StoredIssue]:
        """Return the issues with a smaller number, newest first."""
        # Rows of another version hash words in another way, so they cannot be compared.
        statement = """
            SELECT number, is_open, updated_at, title, body, crash FROM past_issues
            WHERE repository_key = ? AND number < ? AND version = ? ORDER BY number DESC LIMIT ?
        """
        rows = await self._rows(statement, (self._key, number, VERSION, MAX_COMPARED))
        return [StoredIssue(found, bool(is_open), at, IssueWords(*words)) for found, is_open, at, *words in rows]

    async def progress(self) -> ReadingProgress | None:
        """Return the progress of reading old issues; None if it never started or is of an older version."""
        statement = "SELECT page, seen, finished FROM past_walks WHERE repository_key = ? AND version = ?"
        row = await self._row(statement, (self._key, VERSION))
        self._started = ReadingProgress(row[0], row[1], bool(row[2])) if row else None
        return self._started

    async def has_started(self) -> bool:
        """Return whether reading old issues has started. A positive answer is cached for the life of this object."""
        return self._started is not None or await self.progress() is not None

    @transaction
    def store_page(self, db: Connection, issues: Sequence[StoredIssue], walk: ReadingProgress) -> None:
        """Store a page of issues and the progress, in one transaction."""
        _keep(db, self._key, issues)
        statement = upsert("past_walks", "repository_key", "version, page, seen, finished")
        db.execute(statement, (self._key, VERSION, walk.page, walk.seen, int(walk.finished)))

    @query
    def confirmed_distinct(self, db: Connection, number: int) -> frozenset[int]:
        """Return the issues that a person, on either of the two issues, marked as no duplicate of this one."""
        prefix = f"{self._key}#"
        other_here = "SELECT other FROM relations WHERE issue_key = ? AND duplicate = 0"
        named_by_this = {other for (other,) in db.execute(other_here, (f"{prefix}{number}",))}
        # As in `Effects.with_prefix`, LIKE would match too much.
        other_there = """
            SELECT issue_key FROM relations WHERE other = ? AND duplicate = 0 AND substr(issue_key, 1, ?) = ?
        """
        named_by_others = db.execute(other_there, (number, len(prefix), prefix))
        return frozenset(named_by_this | {int(key.removeprefix(prefix)) for (key,) in named_by_others})


def _keep(db: Connection, key: str, issues: Sequence[StoredIssue]) -> None:
    # Deliveries, pages and reports write the same row in any order, so the newest text wins. A newer version always
    # wins, because it replaces hashes that nothing reads.
    newer = "excluded.updated_at >= past_issues.updated_at OR excluded.version > past_issues.version"
    values = "is_open, updated_at, version, title, body, crash"
    statement = f"{upsert('past_issues', 'repository_key, number', values)} WHERE {newer}"
    rows = ((key, it.number, int(it.is_open), it.updated_at, VERSION, *astuple(it.words)) for it in issues)
    db.executemany(statement, rows)


def note_crash(db: Connection, issue_key: str, crash: Crash, now: float) -> list[Storm]:
    """Store the crashes of an issue, within a transaction; return those that need an alert now, once per crash.

    An issue that was opened long ago, as in a backfill, leads to no alert.
    """
    repository = issue_key.rpartition("#")[0]
    # Stored before they are counted, so that this issue's own report counts.
    for fingerprint in crash.fingerprints:
        db.execute(_NOTE, (repository, fingerprint, issue_key, crash.reporter, crash.at))
    # By the time at which issues were opened: a backfill of years of issues must not look like an outage.
    storms = [read_crashes(db, repository, fingerprint, now) for fingerprint in dict.fromkeys(crash.fingerprints)]
    # Of concurrent transactions exactly one claims the alert of a crash.
    claim = "INSERT INTO crash_alerts (repository_key, fingerprint, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
    large = (storm for storm in storms if storm.reporters >= REPORTERS)
    return [storm for storm in large if db.execute(claim, (repository, storm.fingerprint, now)).rowcount]
