"""Wake-ups: procrastinate's tables tell the workers that a job is due.

A trigger stores a wake-up in the same transaction that makes a job wait, so no statement can omit it, including one
typed by hand. The jobs table decides what a woken worker does, if anything.
"""

from __future__ import annotations

from importlib import resources
from typing import Any

import psycopg
from psycopg.errors import DuplicateObject, DuplicateTable

from bot.errors import UserError

TASK = "work"
AHEAD = 3_600
"""Maximum seconds by which a wake-up is stored before its job is due. A question may wait for two weeks, and every
query for work would scan a wake-up stored that early; such a job gets its wake-up when it becomes due.
"""
EARLY = 0.25
"""Seconds by which a job may start early, since two readings of one clock may differ."""

# Only a due wake-up has a lock: procrastinate does not run a later wake-up before an earlier one of the same lock,
# however late the earlier one is due. Jobs with an attempt go first; otherwise the jobs of a dead worker would wait
# behind all newer jobs.
_OURS = f"""
CREATE FUNCTION tracehound_wake(job bigint, issue_key text, lane text, due double precision, attempt bigint)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    at timestamptz := CASE WHEN to_timestamp(due) > clock_timestamp() + interval '{EARLY} s' THEN to_timestamp(due) END;
BEGIN
    IF at > clock_timestamp() + interval '{AHEAD} s' THEN
        RETURN;
    END IF;
    PERFORM procrastinate_defer_jobs_v1(ARRAY[ROW(
        lane, '{TASK}', CASE WHEN attempt > 0 THEN 1 ELSE 0 END,
        CASE WHEN at IS NULL THEN lane || ' ' || issue_key END, NULL,
        jsonb_build_object('job', job, 'issue_key', issue_key, 'lane', lane), at
    )]::procrastinate_job_to_defer_v1[]);
END;
$$;
CREATE FUNCTION tracehound_job_waits() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM tracehound_wake(NEW.id, NEW.issue_key, NEW.lane, NEW.due, NEW.attempt);
    RETURN NULL;
END;
$$;
CREATE TRIGGER tracehound_job_stored AFTER INSERT ON jobs
    FOR EACH ROW WHEN (NEW.state = 'todo') EXECUTE FUNCTION tracehound_job_waits();
CREATE TRIGGER tracehound_job_waits AFTER UPDATE OF state, due ON jobs
    FOR EACH ROW WHEN (NEW.state = 'todo' AND (OLD.state <> 'todo' OR OLD.due <> NEW.due))
    EXECUTE FUNCTION tracehound_job_waits();
SELECT tracehound_wake(id, issue_key, lane, due, attempt) FROM jobs WHERE state = 'todo'
"""
# A wake-up leads to the job whose turn it is, which may belong to another issue; a lock on its issue would delay it.
_UNLOCKED = f"""
CREATE OR REPLACE FUNCTION tracehound_wake(job bigint, issue_key text, lane text, due double precision, attempt bigint)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    at timestamptz := CASE WHEN to_timestamp(due) > clock_timestamp() + interval '{EARLY} s' THEN to_timestamp(due) END;
BEGIN
    IF at > clock_timestamp() + interval '{AHEAD} s' THEN
        RETURN;
    END IF;
    PERFORM procrastinate_defer_jobs_v1(ARRAY[ROW(
        lane, '{TASK}', CASE WHEN attempt > 0 THEN 1 ELSE 0 END, NULL, NULL,
        jsonb_build_object('job', job, 'issue_key', issue_key, 'lane', lane), at
    )]::procrastinate_job_to_defer_v1[]);
END;
$$
"""
_STEPS = {"tracehound-1": _OURS, "tracehound-2": _UNLOCKED}
"""Steps by name, in order; a released step is never changed."""

Connection = psycopg.Connection[tuple[Any, ...]]


def install(connection: Connection) -> None:
    """Create or upgrade procrastinate's tables and our trigger, within a transaction.

    Raises:
        UserError: a newer release made them, or another application has tables of these names.
    """
    connection.execute("CREATE TABLE IF NOT EXISTS wakeup_steps (name TEXT PRIMARY KEY)")
    applied = _applied(connection)
    if not applied:
        _install_procrastinate(connection)
        applied = _applied(connection)
    for name, statements in (_upgrades() | _STEPS).items():
        if name not in applied:
            _apply(connection, name, statements)


def is_installed(connection: Connection) -> bool:
    """Return whether all of this release's steps are applied, and no others.

    Raises:
        UserError: a newer release made them.
    """
    return _applied(connection) == set(_upgrades() | _STEPS)


def _applied(connection: Connection) -> set[str]:
    there = connection.execute("SELECT to_regclass('wakeup_steps') IS NOT NULL").fetchone()
    rows = connection.execute("SELECT name FROM wakeup_steps").fetchall() if there == (True,) else []
    applied = {name for (name,) in rows}
    if applied - set(_upgrades() | _STEPS):
        raise UserError("the database was written by a newer release: upgrade")
    return applied


def _install_procrastinate(connection: Connection) -> None:
    try:
        connection.execute((resources.files("procrastinate.sql") / "schema.sql").read_bytes())
    except (DuplicateObject, DuplicateTable) as error:
        raise UserError(
            "this database contains another application's procrastinate: use a separate database"
        ) from error
    # ``schema.sql`` has the result of all upgrades of its release, so they count as applied.
    for name in _upgrades():
        connection.execute("INSERT INTO wakeup_steps VALUES (%s)", (name,))


def _apply(connection: Connection, name: str, statements: str) -> None:
    connection.execute(statements.encode())
    connection.execute("INSERT INTO wakeup_steps VALUES (%s)", (name,))


def _upgrades() -> dict[str, str]:
    """Return procrastinate's migrations between its releases, in order; its current ``schema.sql`` includes them."""
    files = (resources.files("procrastinate.sql") / "migrations").iterdir()
    return {file.name: file.read_text() for file in sorted(files, key=lambda file: file.name) if "sql" in file.name}
