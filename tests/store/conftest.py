"""The same promises on both databases: a file, and a real Postgres that is started once."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.store.database import Database
from bot.store.migrate import migrate
from bot.store.postgres import PostgresDatabase, connect
from bot.store.sqlite import SqliteDatabase
from bot.store.tables import Store
from tests.postgres import Postgres


@pytest.fixture(scope="session")
def migrated(postgres: Postgres) -> str:
    """The address of a database with every table."""
    url = postgres.create()
    with connect(url) as connection:
        migrate(connection)
    return url


@pytest.fixture
def url(postgres: Postgres, migrated: str) -> str:
    """The same, with no row in any of them."""
    postgres.empty(migrated)
    return migrated


@pytest.fixture(params=["sqlite", "postgres"])
async def database(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Database]:
    """An empty database of each kind."""
    if request.param == "sqlite":
        database: Database = SqliteDatabase(tmp_path / "store.db")
    else:
        database = PostgresDatabase(request.getfixturevalue("url"))
    yield database
    await database.aclose()


@pytest.fixture
def store(database: Database) -> Store:
    """The tables in it."""
    return Store(database)
