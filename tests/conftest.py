"""Isolation of tests from the machine's settings, files outside their folders, and load."""

from __future__ import annotations

import gc
import itertools
import os
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import hypothesis
import pytest

from bot.store.databases import sqlite_file
from nodes.search.git import running
from nodes.search.languages import pool, protocol
from tests.servers.postgres import NoPostgresError, Postgres, serve_postgres
from tests.support import certificates, inline_git, inline_helper
from tests.support.databases import copying, template
from tests.support.memory_files import use_memory
from tests.support.patience import patience
from tests.support.preloaded import ForkedHelper

if TYPE_CHECKING:
    from bot.store.databases.database import Database
    from bot.store.tables import Store
    from bot.store.writes import StoredWrites


pytest_plugins = ("tests.support.cores",)

# A slow example on a busy machine is not a failure; tests of linear time measure processor time instead.
hypothesis.settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("any machine")
certificates.read_once()
use_memory()
for name in list(os.environ):
    if name.startswith(("OPENAI_", "TRIAGE_", "GITHUB_", "OTEL_", "LANGSMITH_", "LANGCHAIN_")) or name in (
        "DATABASE_URL",
        "NO_COLOR",
    ):
        del os.environ[name]
_homes = itertools.count()
gc.disable()  # until all is collected: hardly anything that is imported or collected goes before the end


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Scale the time limit of a test; pytest-timeout reads the innermost marker next."""
    marker = item.get_closest_marker("timeout")
    written = float(marker.args[0] if marker and marker.args else item.config.getini("timeout"))
    item.add_marker(pytest.mark.timeout(patience(written)), append=False)
    return (yield)


_created = sqlite_file._connect
# For all tests: a fixture that every one of them uses takes a fifth of a millisecond for each.
vars(sqlite_file)["_connect"] = copying(_created)
inline_helper.use()
inline_git.use()
vars(protocol)["subprocess"] = SimpleNamespace(Popen=ForkedHelper, DEVNULL=subprocess.DEVNULL)

WAITING = (
    *(f"chaos/test_{name}.py" for name in ("many", "drills", "storm", "hostile", "attacks")),
    *(f"serve/test_{name}.py" for name in ("answered", "conversation", "code", "proxy", "talk", "duplicates")),
    "serve",
    "backtest/test_paired.py",
    "deploy/test_many_machines.py",
    "support/test_cores.py",
    "dispatch",
    "cli",
)
"""The longest files and folders of those that mostly wait for processes. They run first."""
COMPUTING = (
    "hostile/test_hostile.py",
    "test_linear.py",
    "search/languages/test_samples.py",
    "limits",
    "search/test_helpers.py",
    "docs/test_language.py",
    "search/languages",
    "deploy/test_install.py",
    "graph",
    "search",
)
"""The longest of those that mostly compute. They run at the same time as the first, so that no core is left idle."""

GARBAGE = (20_000, 20, 20)
"""Objects before a collection. With Python's own 700, collections take a twentieth of the processor time of tests."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put tests that wait first and those that compute last, the longest outside; the order within a file stays.

    Processes of tests take files from both ends, so that short files are left for the end of the run.
    """
    here = Path(__file__).parent
    ranks: dict[Path, int] = {}

    def rank(item: pytest.Item) -> int:
        if item.path not in ranks:
            ranks[item.path] = _rank(item.path.relative_to(here).as_posix())
        return ranks[item.path]

    items.sort(key=rank)


def _rank(file: str) -> int:
    for long, sign in ((WAITING, -1), (COMPUTING, 1)):
        for at, name in enumerate(long):
            if file == name or file.startswith(f"{name}/"):
                return sign * (len(long) - at)
    return 0


def pytest_collection_finish() -> None:
    """Let the garbage collector pass over what was imported and collected: none of it goes before the end."""
    template(_created)
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GARBAGE)
    gc.enable()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that rewrites the golden files."""
    parser.addoption(
        "--rewrite-ranking", action="store_true", help="write the golden rankings and the golden answer anew"
    )


def own_environment(folder: Path) -> None:
    """Let programs take this folder for the user's, and one in it for the product's data."""
    os.environ.update(HOME=str(folder), TRIAGE_DATA_DIR=str(folder / "data"))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Give a test a folder of its own, which exists if the test asks for it: most tests do not, and it takes time."""
    base = item.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
    own_environment(base / "homes" / str(next(_homes)))


@pytest.fixture
def tmp_path(tmp_path: Path) -> Path:
    """Return the folder of a test."""
    own_environment(tmp_path)
    return tmp_path


@pytest.fixture
def fresh_helpers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start every helper of the parsers as in production, with an interpreter of its own."""
    monkeypatch.setattr(pool, "Helper", protocol.Helper)
    monkeypatch.setattr(protocol, "subprocess", subprocess)


@pytest.fixture
def started_git(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start git for everything that the search asks it."""
    monkeypatch.setattr(running, "subprocess", subprocess)


@pytest.fixture
def created_databases(monkeypatch: pytest.MonkeyPatch) -> None:
    """Create and sync every SQLite file as in production."""
    monkeypatch.setattr(sqlite_file, "_connect", _created)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """Yield a running server."""
    try:
        with serve_postgres() as server:
            yield server
    except NoPostgresError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def migrated(postgres: Postgres) -> str:
    """Return the address of a migrated database."""
    return postgres.migrated()


@pytest.fixture
def url(postgres: Postgres, migrated: str) -> str:
    """Return the address of a migrated database without rows."""
    postgres.empty(migrated)
    return migrated


@pytest.fixture(params=["sqlite", "postgres"])
async def database(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Database]:
    """Yield an empty database of each kind."""
    from bot.store.databases.postgres import PostgresDatabase
    from bot.store.databases.sqlite_file import SqliteDatabase

    if request.param == "sqlite":
        database: Database = SqliteDatabase(tmp_path / "store.db")
    else:
        database = PostgresDatabase(request.getfixturevalue("url"))
    yield database
    await database.aclose()


@pytest.fixture
def store(database: Database) -> Store:
    """Yield the tables in it."""
    from bot.store.tables import Store

    return Store(database)


@pytest.fixture
async def writes(tmp_path: Path) -> AsyncIterator[StoredWrites]:
    """Yield the write limits that a client checks before it writes."""
    from bot.store.databases.sqlite_file import SqliteDatabase
    from bot.store.writes import StoredWrites

    database = SqliteDatabase(tmp_path / "writes.db")
    yield StoredWrites(database)
    await database.aclose()
