"""No test sees the settings of the machine it runs on, writes outside its own folder, or fails on a busy machine."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import hypothesis
import pytest

from tests.patience import patience
from tests.postgres import NoPostgresError, Postgres, serve_postgres

if TYPE_CHECKING:
    from bot.store.database import Database
    from bot.store.tables import Store
    from bot.store.writes import StoredWrites


# A slow example on a busy machine is no fault; tests of linear time measure processor time instead.
hypothesis.settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("any machine")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Scale the limit after which a test counts as hanging; pytest-timeout reads the innermost marker next."""
    marker = item.get_closest_marker("timeout")
    written = float(marker.args[0] if marker and marker.args else item.config.getini("timeout"))
    item.add_marker(pytest.mark.timeout(patience(written)), append=False)
    return (yield)


SLOW = ("chaos", "serve", "limits", "cli", "hostile", "test_linear")
"""Folders and files whose tests take longest. They come first, so that no core is left alone with them at the end."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the slow tests first; the order within a file stays."""
    here = Path(__file__).parent

    def rank(item: pytest.Item) -> int:
        folder = item.path.relative_to(here).parts[0].removesuffix(".py")
        return SLOW.index(folder) if folder in SLOW else len(SLOW)

    items.sort(key=rank)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let a ranking be agreed on anew."""
    parser.addoption(
        "--rewrite-ranking", action="store_true", help="write the golden rankings and the golden answer anew"
    )


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in list(os.environ):
        if name.startswith(("OPENAI_", "TRIAGE_", "GITHUB_", "OTEL_", "LANGSMITH_", "LANGCHAIN_")) or name in (
            "DATABASE_URL",
            "NO_COLOR",
        ):
            monkeypatch.delenv(name)
    monkeypatch.setenv("TRIAGE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A running server."""
    try:
        with serve_postgres() as server:
            yield server
    except NoPostgresError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def migrated(postgres: Postgres) -> str:
    """The address of a database with every table."""
    return postgres.migrated()


@pytest.fixture
def url(postgres: Postgres, migrated: str) -> str:
    """The same, with no row in any of them."""
    postgres.empty(migrated)
    return migrated


@pytest.fixture(params=["sqlite", "postgres"])
async def database(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Database]:
    """An empty database of each kind."""
    from bot.store.postgres import PostgresDatabase
    from bot.store.sqlite import SqliteDatabase

    if request.param == "sqlite":
        database: Database = SqliteDatabase(tmp_path / "store.db")
    else:
        database = PostgresDatabase(request.getfixturevalue("url"))
    yield database
    await database.aclose()


@pytest.fixture
def store(database: Database) -> Store:
    """The tables in it."""
    from bot.store.tables import Store

    return Store(database)


@pytest.fixture
async def writes(tmp_path: Path) -> AsyncIterator[StoredWrites]:
    """What a client asks before it writes."""
    from bot.store.sqlite import SqliteDatabase
    from bot.store.writes import StoredWrites

    database = SqliteDatabase(tmp_path / "writes.db")
    yield StoredWrites(database)
    await database.aclose()
