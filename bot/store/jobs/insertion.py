"""Store new jobs: equal ones that wait are merged or not repeated."""

from __future__ import annotations

from bot.jobs import UnknownWorkError, Work, dump, kind_of, load
from bot.store.databases.database import Connection

PATIENCE = 600.0
"""Seconds for which later equal jobs may postpone a job."""


def insert_job(db: Connection, guid: str, ordinal: int, work: Work, now: float) -> None:
    """Store a job under the delivery or job that caused it; idempotent."""
    due = now + work.delay
    if work.merges and _postpone_equal(db, work, due, now):
        return
    if _repeats_last(db, work, due):
        return
    statement = """
        INSERT INTO jobs (guid, ordinal, issue_key, installation, lane, work, due, stored_at)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
    """
    db.execute(statement, (guid, ordinal, work.key, work.installation, work.lane, dump(work), due, now))


def _postpone_equal(db: Connection, work: Work, due: float, now: float) -> bool:
    """Update waiting jobs of the same kind and postpone them while the issue keeps changing, up to ``PATIENCE``."""
    statement = """
        SELECT id, work, due, stored_at FROM jobs
        WHERE issue_key = ? AND lane = ? AND state = 'todo' AND due > ? AND attempt = 0
    """
    waiting = db.execute(statement, (work.key, work.lane, now)).fetchall()
    # Jobs that are due may be claimed at any moment, and those with an attempt have begun, so both are left alone.
    equal = [
        (dump(work), max(was_due, min(due, stored_at + PATIENCE)), number)
        for number, text, was_due, stored_at in waiting
        if kind_of(text) == work.kind
    ]
    db.executemany("UPDATE jobs SET work = ?, due = ? WHERE id = ?", equal)
    return bool(equal)


def _repeats_last(db: Connection, work: Work, due: float) -> bool:
    """Return whether the last waiting job is equal and has no attempt yet.

    `stop`, `resume`, `stop` remain three jobs.
    """
    if not work.may_repeat:
        return False
    statement = """
        SELECT work, attempt FROM jobs WHERE issue_key = ? AND lane = ? AND state = 'todo' AND due <= ?
        ORDER BY id DESC LIMIT 1
    """
    last = db.execute(statement, (work.key, work.lane, due)).fetchone()
    try:
        return last is not None and last[1] == 0 and work.repeats(load(last[0]))
    except UnknownWorkError:
        return False
