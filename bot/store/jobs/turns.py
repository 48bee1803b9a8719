"""Choose the next issue: installations take turns, so that no queue delays another; and revive dead jobs."""

from collections.abc import Mapping
from typing import Final, Literal

from bot.jobs import kind_of
from bot.store.databases.database import Connection, TableGroup, Value, transaction

MAX_OFFERED = 8
"""Issues offered to one claim. Other processes may take the first ones at the same moment."""
_CLOCKS = 10.0
"""Seconds by which a stored time may lie ahead. One further ahead was stored before a clock was set back."""

FREE = f"""
NOT EXISTS (
    SELECT 1 FROM jobs AS other
    WHERE other.issue_key = job.issue_key AND other.lane = job.lane AND other.state IN ('todo', 'doing')
      AND (other.state = 'doing'
        OR (other.id < job.id AND (other.due <= :now OR other.attempt > 0
          OR (other.due <= other.stored_at AND other.due < :now + {_CLOCKS}))))
)
"""
"""No other job of the issue and lane runs, and no earlier one has to go first.

A job without a delay (``due <= stored_at``) goes first even if it is not due yet by this process's clock. The clocks of
two processes differ by milliseconds, so of two jobs the earlier may be due later.
"""
_DUE = "SELECT 1 FROM jobs WHERE state = 'todo' AND lane = :lane AND due <= :now LIMIT 1"
_FIRST = f"""
SELECT job.id FROM jobs AS job
WHERE job.installation = waiting.installation AND state = 'todo' AND lane = :lane AND due <= :now AND {FREE}
"""
_ORDER = "ORDER BY due, id LIMIT 1"
_OF_TODAY = "AND substr(job.guid, 1, 8) <> 'backfill'"
# Jobs with an attempt come first: a job that a dead worker left must not wait behind all later jobs. Jobs that
# people are waiting for come next, before the old issues of a backfill, which may be thousands.
# The recursion jumps from one installation to the next in the index: its cost does not grow with the queue.
_NEXT = f"""
WITH RECURSIVE waiting(installation) AS (
    SELECT min(installation) FROM jobs WHERE state = 'todo' AND lane = :lane
    UNION ALL
    SELECT (
        SELECT min(jobs.installation) FROM jobs
        WHERE state = 'todo' AND lane = :lane AND jobs.installation > waiting.installation
    ) FROM waiting WHERE waiting.installation IS NOT NULL
), head(installation, id) AS (
    SELECT waiting.installation, coalesce(
        ({_FIRST} AND attempt > 0 {_ORDER}), ({_FIRST} {_OF_TODAY} {_ORDER}), ({_FIRST} {_ORDER})
    )
    FROM waiting WHERE waiting.installation IS NOT NULL
)
SELECT job.issue_key FROM head JOIN jobs AS job ON job.id = head.id
LEFT JOIN turns ON turns.lane = job.lane AND turns.installation = job.installation
ORDER BY CASE WHEN turns.at < :now + :clocks THEN turns.at ELSE 0 END, job.due, job.id LIMIT :most
"""
TAKE_TURN = """
INSERT INTO turns (lane, installation, at) SELECT lane, installation, :at FROM jobs WHERE id = :id
ON CONFLICT (lane, installation) DO UPDATE SET at = excluded.at
"""
"""Records within the claim of a job (``id``) that its installation was served."""
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
QUEUE_AGAIN = "UPDATE jobs SET state = 'todo', due = :now, due_set_at = :now, attempt = 0, waited = 0"
_REVIVE = f"{QUEUE_AGAIN}, lost = 0, revived = revived + 1 WHERE id = :id AND state = 'dead'"


def next_issues(db: Connection, parameters: Mapping[str, Value]) -> list[str]:
    """Return the first free issue of each installation; the installation that was served longest ago comes first."""
    # The query below visits every installation with a waiting job, due or not. This one answers from an index.
    if db.execute(_DUE, {"lane": parameters["lane"], "now": parameters["now"]}).fetchone() is None:
        return []
    rows = db.execute(_NEXT, {**parameters, "clocks": _CLOCKS, "most": MAX_OFFERED}).fetchall()
    return [key for (key,) in rows]


class DeadJobs(TableGroup):
    """The dead jobs of all repositories."""

    @transaction
    def revive(self, db: Connection) -> int:
        """Revive jobs that have been dead long enough and that no later job replaces; returns how many."""
        now = self._clock()
        # The due time of a dead job is the time at which it died.
        # A dead job of an older release has no recorded cause and is not revived: only an operator replays it.
        revived = 0
        for number, key, lane, work, died, death, times in db.execute(_DEAD).fetchall():
            if times >= MAX_REVIVALS.get(death, 0) or died + FIRST_REST * 2.0**times > now:
                continue
            # A later job of the same kind replaces it. In the lane ``control`` any later job does, because an old
            # command must not run after newer ones.
            later = db.execute(_LATER, (key, number)).fetchall()
            superseded = any(lane == "control" or kind_of(other) == kind_of(work) for (other,) in later)
            if revived < MAX_REVIVED and not superseded:
                db.lock([key])
                db.execute(_REVIVE, {"now": now, "id": number})
                revived += 1
        return revived
