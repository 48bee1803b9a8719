"""Create, upgrade and check the schema of a Postgres database, with procrastinate's tables and our trigger."""

import re
import time
from importlib import resources
from typing import Any, cast

import psycopg
from langgraph.checkpoint.postgres import PostgresSaver
from psycopg.errors import DuplicateObject, DuplicateTable

from bot.errors import UserError
from bot.store.databases.database import STEPS

TASK, EARLY = "work", 0.25
"""The task that ``tracehound-2.sql`` defers, and the seconds by which it may be early, as that file has them."""
_SQL = resources.files(__package__)
_STEPS = {name: _SQL.joinpath(f"{name}.sql").read_text() for name in ("tracehound-1", "tracehound-2")}
"""Steps by name, in order; a released step is never changed."""
MIGRATION_SECONDS = 60.0
"""Seconds to wait for another migration."""
_LOCK = 7_227_434_100_001
"""An arbitrary number, the same in every release."""
# Longer phrases come first: a regular expression takes the first alternative that matches.
_WORDS = {
    "INTEGER PRIMARY KEY AUTOINCREMENT": "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
    "STRICT, WITHOUT ROWID": "",
    "STRICT": "",
    "INTEGER": "BIGINT",
    "REAL": "DOUBLE PRECISION",
    "BLOB": "BYTEA",
    "TEXT": 'TEXT COLLATE "C"',  # SQLite's order of text, regardless of the server's locale
}
_TYPES = re.compile("|".join(rf"\b{word}\b" for word in _WORDS))

Connection = psycopg.Connection[tuple[Any, ...]]


def migrate(connection: Connection) -> int:
    """Apply the missing steps once, ours in one transaction; ``UserError`` if the schema is newer or a call hangs."""
    _wait(connection)
    try:
        with connection.transaction():
            connection.execute("CREATE TABLE IF NOT EXISTS schema_version (version BIGINT NOT NULL)")
            taken = _version(connection)
            for step in STEPS[taken:]:
                for statement in in_postgres(step):
                    connection.execute(statement)
            install(connection)
            # One row, written last in the same transaction: a migration that fails leaves the old version and the old
            # tables.
            connection.execute("DELETE FROM schema_version")
            connection.execute("INSERT INTO schema_version VALUES (%s)", (len(STEPS),))
        # LangGraph's own steps run outside the transaction, because some of them build an index concurrently.
        PostgresSaver(cast("psycopg.Connection[dict[str, Any]]", connection)).setup()
    finally:
        connection.execute("SELECT pg_advisory_unlock(%s)", (_LOCK,))
    return len(STEPS) - taken


def missing(connection: Connection) -> int:
    """Return the number of steps that the database lacks."""
    # to_regclass returns NULL for a missing table, where a query would fail.
    (there,) = _one(connection, "SELECT to_regclass('schema_version') IS NOT NULL")
    return len(STEPS) - (_version(connection) if there else 0)


def require_current(connection: Connection) -> None:
    """Raise ``UserError`` if the schema is not this release's."""
    if missing(connection) or _applied(connection) != set(_upgrades() | _STEPS):
        raise UserError("the database is not ready for this release: run `triage migrate`")


def install(connection: Connection) -> None:
    """Create or upgrade procrastinate's tables and our trigger; raises ``UserError`` if they are a newer release's."""
    connection.execute("CREATE TABLE IF NOT EXISTS wakeup_steps (name TEXT PRIMARY KEY)")
    applied = _applied(connection)
    if not applied:
        _install_procrastinate(connection)
        applied = _applied(connection)
    for name, statements in (_upgrades() | _STEPS).items():
        if name not in applied:
            connection.execute(statements.encode())
            connection.execute("INSERT INTO wakeup_steps VALUES (%s)", (name,))


def _applied(connection: Connection) -> set[str]:
    """Return the names of the applied steps; raises ``UserError`` if a newer release's are."""
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


def _upgrades() -> dict[str, str]:
    """Return procrastinate's migrations between its releases, in order; its current ``schema.sql`` includes them."""
    files = (resources.files("procrastinate.sql") / "migrations").iterdir()
    return {file.name: file.read_text() for file in sorted(files, key=lambda file: file.name) if "sql" in file.name}


def in_postgres(step: str) -> list[bytes]:
    """Translate a step of the schema to Postgres and split it into statements."""
    return [
        _TYPES.sub(lambda found: _WORDS[found.group()], statement).encode()
        # No step has a semicolon within a string, so this split is safe.
        for statement in step.split(";")
        if statement.strip()
    ]


def _version(connection: Connection) -> int:
    row = connection.execute("SELECT version FROM schema_version").fetchone()
    version = int(row[0]) if row else 0
    if version > len(STEPS):
        raise UserError(
            f"the database was written by a newer release (schema {version}, known up to {len(STEPS)}): upgrade"
        )
    return version


def _wait(connection: Connection) -> None:
    # Poll instead of waiting for the lock: a waiting transaction would block CREATE INDEX CONCURRENTLY.
    until = time.monotonic() + MIGRATION_SECONDS
    while not _one(connection, f"SELECT pg_try_advisory_lock({_LOCK})")[0]:
        if time.monotonic() > until:
            raise UserError("another `triage migrate` is running on the database and does not end")
        time.sleep(0.05)


def _one(connection: Connection, statement: str) -> tuple[Any, ...]:
    row = connection.execute(statement.encode()).fetchone()
    if row is None:
        raise RuntimeError("a statement that always returns a row returned none")
    return row
