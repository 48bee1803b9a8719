"""Query what waits for a person, a worker or an operator; and the repositories with the outcomes of their reports."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from bot.jobs import kind_of
from bot.limits.ceilings import day_of
from bot.store.databases.database import TableGroup
from bot.store.pages.rows import COLUMNS, FROM, Keys, RunRow, read_row, visible
from bot.store.runs.outcomes import OutcomeState
from nodes.state import HumanExchange

JobState = Literal["todo", "timer", "doing", "parked", "dead"]
"""A job that is due later, such as a reminder or the next attempt, is a timer and does not wait."""
_STATE = "CASE WHEN state = 'todo' AND due > ? THEN 'timer' ELSE state END"
LISTED_JOBS = 50
"""Maximum number of jobs that a page lists per state."""
# A job about a repository has its key instead of an issue's; one about an installation has a key of no repository.
_KEY = "CASE WHEN issue_key LIKE '%#%' THEN rtrim(rtrim(issue_key, '0123456789'), '#') ELSE issue_key END"
WEEK = 7 * 86_400.0
"""Seconds in which an ending or a refusal counts as recent."""
LISTED = 10
"""Rows of each list."""
_IS_NEWEST = """
NOT EXISTS (SELECT 1 FROM runs AS later WHERE later.issue_key = runs.issue_key AND later.run_no > runs.run_no)
"""
_REPOSITORY = """
repositories.repository_key, owner, name, archived, gone,
(SELECT count(*) FROM runs WHERE runs.repository_key = repositories.repository_key),
(SELECT max(began_at) FROM runs WHERE runs.repository_key = repositories.repository_key)
"""


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """A question without an answer."""

    run: RunRow
    text: str
    asked_at: float
    """Seconds since 1970."""


@dataclass(frozen=True, slots=True)
class EndedIssue:
    """An issue's last run, which was stopped or failed."""

    run: RunRow
    reason: str
    """The message of the job that ended it, or of a dead one; empty if none is stored."""


@dataclass(frozen=True, slots=True)
class LackedPermission:
    """A permission that GitHub refused in a repository."""

    repository_key: str
    repository: str
    code: str
    """As ``describe_limit`` knows it, such as ``permission.issues``."""
    day: str
    """The last day on which it was refused, in UTC."""


class Attention(TableGroup):
    """The queries."""

    async def questions(self, keys: Keys) -> list[OpenQuestion]:
        """Return open questions, the oldest first."""
        allowed, parameters = visible("runs.repository_key", keys)
        statement = f"""
            SELECT exchange, asked_at, {COLUMNS} {FROM}
            JOIN questions ON questions.issue_key = runs.issue_key AND questions.state = 'open'
            WHERE {allowed} AND {_IS_NEWEST} AND runs.status = 'waiting' ORDER BY asked_at, runs.issue_key LIMIT ?
        """
        rows = await self._rows(statement, (*parameters, LISTED))
        return [
            OpenQuestion(
                read_row(row),
                HumanExchange.model_validate_json(exchange).question,
                datetime.fromisoformat(asked_at).timestamp(),
            )
            for exchange, asked_at, *row in rows
        ]

    async def ended(self, keys: Keys) -> list[EndedIssue]:
        """Return issues whose last run was stopped or failed within a week, the latest first."""
        allowed, parameters = visible("runs.repository_key", keys)
        since = self._database.clock() - WEEK
        # A run ends in one transaction with its job, so both have the same time, by which done jobs are indexed.
        reason = """
            (SELECT said FROM jobs WHERE jobs.issue_key = runs.issue_key AND said <> ''
                AND (jobs.state = 'dead' OR (jobs.state = 'done' AND settled_at = runs.changed_at))
                ORDER BY jobs.id DESC LIMIT 1)
        """
        statement = f"""
            SELECT coalesce({reason}, ''), {COLUMNS} {FROM}
            WHERE {allowed} AND {_IS_NEWEST} AND runs.status IN ('stopped', 'failed') AND changed_at >= ?
            ORDER BY changed_at DESC, runs.issue_key LIMIT ?
        """
        rows = await self._rows(statement, (*parameters, since, LISTED))
        return [EndedIssue(read_row(row), str(message)) for message, *row in rows]

    async def lacked(self, keys: Keys) -> list[LackedPermission]:
        """Return the permissions that were refused within a week, by repository."""
        allowed, parameters = visible("repositories.repository_key", keys)
        since = day_of(self._database.clock() - WEEK)
        statement = f"""
            SELECT repositories.repository_key, owner || '/' || name, what, max(day) FROM limited
            JOIN repositories ON repositories.repository_key = limited.repository_key
            WHERE what LIKE 'permission.%' AND day >= ? AND gone = 0 AND {allowed}
            GROUP BY repositories.repository_key, owner, name, what ORDER BY owner, name, what
        """
        rows = await self._rows(statement, (since, *parameters))
        return [LackedPermission(*row) for row in rows]


@dataclass(frozen=True, slots=True)
class JobRow:
    """One job."""

    id: int
    issue_key: str
    kind: str
    state: JobState
    attempt: int
    due: float
    stored_at: float
    message: str
    owner: str | None
    """Owner of its repository; None if the job has no known repository."""
    name: str | None

    @property
    def issue(self) -> int | None:
        """The issue's number; None if the job is about a repository or an installation."""
        _, sign, number = self.issue_key.rpartition("#")
        return int(number) if sign and number != "0" else None


class WaitingJobs(TableGroup):
    """The jobs that are not done."""

    async def counts(self, keys: Keys) -> dict[str, int]:
        """Return the number of jobs by state, without done ones."""
        allowed, parameters = visible(_KEY, keys)
        statement = f"""
            SELECT state, count(*) FROM (SELECT {_STATE} AS state FROM jobs WHERE state <> 'done' AND {allowed}) AS open
            GROUP BY state
        """
        return dict(await self._rows(statement, (self._database.clock(), *parameters)))

    async def listing(self, state: JobState, keys: Keys, most: int = LISTED_JOBS) -> list[JobRow]:
        """Return jobs of one state: dead and parked ones newest first, others in the order in which they are due."""
        allowed, parameters = visible(_KEY, keys)
        order = "jobs.id DESC" if state in ("dead", "parked") else "due, jobs.id"
        statement = f"""
            SELECT jobs.id, issue_key, work, state, attempt, due, stored_at, said, repositories.owner, name
            FROM jobs LEFT JOIN repositories ON repository_key = {_KEY}
            WHERE state <> 'done' AND {_STATE} = ? AND {allowed} ORDER BY {order} LIMIT ?
        """
        rows = await self._rows(statement, (self._database.clock(), state, *parameters, most))
        return [JobRow(number, key, kind_of(work), *rest) for number, key, work, *rest in rows]


@dataclass(frozen=True, slots=True)
class RepositoryRow:
    """One repository."""

    key: str
    owner: str
    name: str
    archived: int
    gone: int
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
    settled_at: float | None
    """None while the outcome is open, or if an older release settled it."""


class Repositories(TableGroup):
    """All known repositories."""

    async def all(self, keys: Keys) -> list[RepositoryRow]:
        """Return the repositories that have runs, by name."""
        allowed, parameters = visible("repositories.repository_key", keys)
        statement = f"""
            SELECT {_REPOSITORY} FROM repositories
            WHERE {allowed} AND EXISTS (SELECT 1 FROM runs WHERE runs.repository_key = repositories.repository_key)
            ORDER BY lower(owner), lower(name), repositories.repository_key
        """
        return [RepositoryRow(*row) for row in await self._rows(statement, parameters)]

    async def named(self, owner: str, name: str) -> RepositoryRow | None:
        """Find a repository by its current name, ignoring case; an existing one comes before a removed one."""
        statement = f"""
            SELECT {_REPOSITORY} FROM repositories WHERE lower(owner) = lower(?) AND lower(name) = lower(?)
            ORDER BY gone, repositories.repository_key LIMIT 1
        """
        row = await self._row(statement, (owner, name))
        return RepositoryRow(*row) if row else None

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
