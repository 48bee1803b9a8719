"""Query jobs for the queue page."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal

from bot.store.database import Database
from bot.store.pages.keys import Keys, visible

JobState = Literal["todo", "doing", "parked", "dead"]
LISTED = 50
"""Maximum number of jobs listed per state."""
# A job about a repository has its key instead of an issue's; one about an installation has a key of no repository.
_KEY = "CASE WHEN issue_key LIKE '%#%' THEN rtrim(rtrim(issue_key, '0123456789'), '#') ELSE issue_key END"


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


class Queue:
    """The jobs that are not done."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def counts(self, keys: Keys) -> dict[str, int]:
        """Return the number of jobs by state, without done ones."""
        allowed, given = visible(_KEY, keys)
        statement = f"SELECT state, count(*) FROM jobs WHERE state <> 'done' AND {allowed} GROUP BY state"  # noqa: S608  placeholders
        rows = await self._database.read(lambda db: db.execute(statement, given).fetchall())
        return dict(rows)

    async def listing(self, state: JobState, keys: Keys) -> list[JobRow]:
        """Return jobs of one state: dead and parked ones newest first, others in the order in which they are due."""
        allowed, given = visible(_KEY, keys)
        order = "jobs.id DESC" if state in ("dead", "parked") else "due, jobs.id"
        statement = f"""
            SELECT jobs.id, issue_key, work, state, attempt, due, stored_at, said, repositories.owner, name
            FROM jobs LEFT JOIN repositories ON repository_key = {_KEY}
            WHERE state = ? AND {allowed} ORDER BY {order} LIMIT ?
        """  # noqa: S608  names of columns, and placeholders
        rows = await self._database.read(lambda db: db.execute(statement, (state, *given, LISTED)).fetchall())
        return [JobRow(number, key, _kind(work), *rest) for number, key, work, *rest in rows]


def _kind(work: str) -> str:
    return str(json.loads(work).get("kind", ""))
