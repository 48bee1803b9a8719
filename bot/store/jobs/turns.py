"""Choose the next issue: installations take turns, so that the queue of one does not delay another."""

from __future__ import annotations

from collections.abc import Mapping

from bot.store.databases.database import Connection, Value

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
_TAKE = """
INSERT INTO turns (lane, installation, at) SELECT lane, installation, :at FROM jobs WHERE id = :id
ON CONFLICT (lane, installation) DO UPDATE SET at = excluded.at
"""


def next_issues(db: Connection, parameters: Mapping[str, Value]) -> list[str]:
    """Return the first free issue of each installation; the installation that was served longest ago comes first.

    Args:
        db: the database.
        parameters: ``lane``, and ``now`` as the time by which jobs must be due.
    """
    # The query below visits every installation with a waiting job, due or not. This one answers from an index.
    if db.execute(_DUE, {"lane": parameters["lane"], "now": parameters["now"]}).fetchone() is None:
        return []
    rows = db.execute(_NEXT, {**parameters, "clocks": _CLOCKS, "most": MAX_OFFERED}).fetchall()
    return [key for (key,) in rows]


def take_turn(db: Connection, job_id: int, at: float) -> None:
    """Record within the claim that the installation of a job was served."""
    db.execute(_TAKE, {"id": job_id, "at": at})


def forget_turns(db: Connection, before: float) -> int:
    """Delete installations that were last served before this time; returns the number deleted."""
    return db.execute("DELETE FROM turns WHERE at < ?", (before,)).rowcount
