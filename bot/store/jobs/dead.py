"""Retry dead jobs that may succeed by now, a limited number of times."""

from __future__ import annotations

from typing import Final, Literal

from bot.jobs import kind_of
from bot.store.databases.database import Connection, Table

Death = Literal["transient", "fault", "lost"]
"""The cause of a job's death: an outage (``transient``), a bug (``fault``), or the end of its worker process
(``lost``)."""

MAX_REVIVALS: Final[dict[Death, int]] = {"transient": 6, "fault": 2, "lost": 0}
"""Number of revivals of a dead job; after that it waits for an operator."""
FIRST_REST = 3_600.0
"""Seconds before the first revival, doubled each time. Each revival has all attempts of a job, which last for hours."""
MAX_REVIVED = 200
"""Limit on jobs that one call revives."""

_DEAD = "SELECT id, issue_key, lane, work, due, death, revived FROM jobs WHERE state = 'dead' ORDER BY id"
_LATER = "SELECT work FROM jobs WHERE issue_key = ? AND id > ? AND state <> 'dead'"
_REVIVE = """
UPDATE jobs SET state = 'todo', due = :now, due_set_at = :now, attempt = 0, waited = 0, lost = 0, revived = revived + 1
WHERE id = :id AND state = 'dead'
"""


class DeadJobs(Table):
    """The dead jobs of all repositories."""

    async def revive(self) -> list[int]:
        """Revive jobs that have been dead long enough and that no later job replaces; returns their ids."""
        now = self._clock()
        return await self._database.do(lambda db: _revive(db, now))


def _revive(db: Connection, now: float) -> list[int]:
    # The due time of a dead job is the time at which it died.
    # A dead job of an older release has no recorded cause and is not revived: only an operator replays it.
    rows = db.execute(_DEAD).fetchall()
    due = [row for row in rows if row[6] < MAX_REVIVALS.get(row[5], 0) and row[4] + FIRST_REST * 2.0 ** row[6] <= now]
    revived: list[int] = []
    for number, key, lane, work, *_ in due:
        if len(revived) < MAX_REVIVED and not _is_superseded(db, number, key, lane, kind_of(work)):
            db.lock([key])
            db.execute(_REVIVE, {"now": now, "id": number})
            revived.append(number)
    return revived


def _is_superseded(db: Connection, number: int, key: str, lane: str, kind: str) -> bool:
    """Return whether a later job of the issue replaces this one.

    A job of the same kind does. In the lane ``control`` any later job does, because an old command must not run after
    newer ones.
    """
    later = db.execute(_LATER, (key, number)).fetchall()
    return any(lane == "control" or kind_of(work) == kind for (work,) in later)
