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
from bot.store.databases.database import Connection, Table, Value, transaction
from bot.store.jobs.queue import FEW, WAITING, free_jobs

TASK, EARLY = "work", 0.25
"""The task that ``tracehound-2.sql`` defers, and the seconds by which it may be early, as that file has them."""
_STEPS = {
    name: resources.files(__package__).joinpath(f"{name}.sql").read_text() for name in ("tracehound-1", "tracehound-2")
}
"""Steps by name, in order; a released step is never changed."""

Session = psycopg.Connection[tuple[Any, ...]]
LATE = 2.0
"""Seconds after which a job that is due and has no wake-up gets one."""
MAX_CHECKED = 500
"""Limit on the jobs checked for that; those that have been due longest come first."""
# An owner is a worker's id in procrastinate's table, ``@``, and the worker's place. The process that asks is alive,
# however late its heartbeat is. The time doubles for a job that was interrupted often: on a machine where every worker
# is slow, they would otherwise take each job from each other until it is dead.
_STALLED = f"""
owner NOT LIKE :ours AND NOT EXISTS (
    SELECT 1 FROM procrastinate_workers AS worker
    WHERE CAST(worker.id AS TEXT) = split_part(jobs.owner, '@', 1)
      AND worker.last_heartbeat > now() - make_interval(
          secs => :seconds * power(2, least(greatest(jobs.attempt - jobs.waited - {FEW}, 0), 6)))
)
"""
_ANY_STALLED = f"SELECT 1 FROM jobs WHERE state = 'doing' AND {_STALLED} LIMIT 1"
# A job that was stored more than an hour before it is due has no wake-up yet, and others may be lost with a connection.
_FORGOTTEN = f"""
SELECT id, issue_key, lane, due, attempt FROM ({WAITING} LIMIT {MAX_CHECKED}) AS waiting WHERE NOT EXISTS (
    SELECT 1 FROM procrastinate_jobs AS wakeup
    WHERE wakeup.status = 'todo' AND wakeup.queue_name = waiting.lane
      AND wakeup.args ->> 'issue_key' = waiting.issue_key AND coalesce(wakeup.scheduled_at, now()) <= now()
)
"""


def install(connection: Session) -> None:
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


def is_installed(connection: Session) -> bool:
    """Return whether all of this release's steps are applied, and no others.

    Raises:
        UserError: a newer release made them.
    """
    return _applied(connection) == set(_upgrades() | _STEPS)


def _applied(connection: Session) -> set[str]:
    there = connection.execute("SELECT to_regclass('wakeup_steps') IS NOT NULL").fetchone()
    rows = connection.execute("SELECT name FROM wakeup_steps").fetchall() if there == (True,) else []
    applied = {name for (name,) in rows}
    if applied - set(_upgrades() | _STEPS):
        raise UserError("the database was written by a newer release: upgrade")
    return applied


def _install_procrastinate(connection: Session) -> None:
    try:
        connection.execute((resources.files("procrastinate.sql") / "schema.sql").read_bytes())
    except (DuplicateObject, DuplicateTable) as error:
        raise UserError(
            "this database contains another application's procrastinate: use a separate database"
        ) from error
    # ``schema.sql`` has the result of all upgrades of its release, so they count as applied.
    for name in _upgrades():
        connection.execute("INSERT INTO wakeup_steps VALUES (%s)", (name,))


def _apply(connection: Session, name: str, statements: str) -> None:
    connection.execute(statements.encode())
    connection.execute("INSERT INTO wakeup_steps VALUES (%s)", (name,))


def _upgrades() -> dict[str, str]:
    """Return procrastinate's migrations between its releases, in order; its current ``schema.sql`` includes them."""
    files = (resources.files("procrastinate.sql") / "migrations").iterdir()
    return {file.name: file.read_text() for file in sorted(files, key=lambda file: file.name) if "sql" in file.name}


class Workers(Table):
    """The workers that share one database. Each of them checks all the others."""

    async def free_stalled(self, seconds: float, place: str) -> int:
        """Free the jobs of workers at other places without a heartbeat for this many seconds; returns the number freed.

        The jobs are not blamed: the machine may have stopped as well as the job.
        """
        parameters: dict[str, Value] = {"seconds": seconds, "ours": f"%@{place}"}
        # A query first, outside a transaction that could conflict with others: usually no worker has stalled.
        if not await self._row(_ANY_STALLED, parameters):
            return 0
        now = self._database.clock()
        return await self._database.do(lambda db: free_jobs(db, now, _STALLED, parameters, blame=False))

    async def active_attempts(self, place: str) -> set[tuple[int, int]]:
        """Return the ids and attempts of jobs that the store assigns to the workers of a place."""
        statement = "SELECT id, attempt FROM jobs WHERE state = 'doing' AND owner LIKE ?"
        rows = await self._rows(statement, (f"%{place}",))
        return {(number, attempt) for number, attempt in rows}

    @transaction
    def free(self, db: Connection, job: int, attempt: int) -> int:
        """Free a job that no worker works on because the response to its claim was lost; returns the number freed."""
        parameters: dict[str, Value] = {"id": job, "tried": attempt}
        return free_jobs(db, self._clock(), "id = :id AND attempt = :tried", parameters, blame=False)

    async def create_missing_wakeups(self) -> int:
        """Create wake-ups for due jobs that have none; returns their number."""
        now = self._database.clock()
        parameters: dict[str, Value] = {"now": now, "late": now - LATE}
        found = await self._rows(_FORGOTTEN, parameters)
        return await self._database.do(lambda db: _wake(db, found)) if found else 0


def _wake(db: Connection, jobs: list[tuple[Value, ...]]) -> int:
    for job in jobs:
        db.execute("SELECT tracehound_wake(?, ?, ?, ?, ?)", job)
    return len(jobs)
