"""Jobs that were given up: those that may succeed by now are tried again, a bounded number of times."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

from bot.jobs import load
from bot.store.database import Connection, Database

Death = Literal["transient", "fault", "lost"]
"""Why a job was given up: something was away, an error of ours, or it ended the process that worked on it."""

CHANCES: Final[dict[Death, int]] = {"transient": 6, "fault": 2, "lost": 0}
"""How often a job is tried again after it was given up; then it waits for an operator."""
FIRST_REST = 3_600.0
"""Seconds before the first time, doubled each time. Each time it has all its attempts, which last for hours."""
MOST = 200
"""Jobs of one round."""

_DEAD = "SELECT id, issue_key, lane, work, due, death, revived FROM jobs WHERE state = 'dead' ORDER BY id"
_LATER = "SELECT work FROM jobs WHERE issue_key = ? AND id > ? AND state <> 'dead'"
_REVIVE = """
UPDATE jobs SET state = 'todo', due = ?, attempt = 0, waited = 0, lost = 0, revived = revived + 1
WHERE id = ? AND state = 'dead'
"""


class DeadJobs:
    """For all repositories."""

    def __init__(self, database: Database, clock: Callable[[], float] | None = None) -> None:
        self._database = database
        self._clock = clock or database.clock

    async def revive(self) -> list[int]:
        """Begin again what was given up long enough ago and no later job has made up for; returns the ids."""
        now = self._clock()
        return await self._database.do(lambda db: _revive(db, now))


def _revive(db: Connection, now: float) -> list[int]:
    # A job is given up at the time that its row is due.
    rows = db.execute(_DEAD).fetchall()
    due = [row for row in rows if row[6] < CHANCES.get(row[5], 0) and row[4] + FIRST_REST * 2.0 ** row[6] <= now]
    revived: list[int] = []
    for number, key, lane, work, *_ in due:
        if len(revived) < MOST and not _is_made_up_for(db, number, key, lane, load(work).kind):
            db.lock([key])
            db.execute(_REVIVE, (now, number))
            revived.append(number)
    return revived


def _is_made_up_for(db: Connection, number: int, key: str, lane: str, kind: str) -> bool:
    """Whether a later job of the issue does the same; a later change goes before what a control job would note."""
    later = db.execute(_LATER, (key, number)).fetchall()
    return any(lane == "control" or load(work).kind == kind for (work,) in later)
