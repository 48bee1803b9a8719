"""Database files: older ones are migrated, newer ones refused."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from bot.errors import UserError
from bot.store.databases.database import STEPS
from bot.store.databases.sqlite import SqliteStore
from bot.store.databases.sqlite_file import SqliteDatabase, _connect
from bot.store.runs.rows import LocalRuns
from tests.support.databases import copying

pytestmark = pytest.mark.usefixtures("created_databases")


async def test_a_file_of_the_first_release_retains_its_runs(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "store.db")) as db, db:
        db.executescript(STEPS[0])
        db.execute("INSERT INTO runs VALUES ('cli:1', 1, 'finished')")
    runs = LocalRuns(SqliteDatabase(tmp_path / "store.db"))
    assert await runs.open("cli:1") == 2
    assert await runs.open("cli:1") == 2
    await runs.finish("cli:1", 2)
    assert await runs.open("cli:1") == 3
    await runs.aclose()


def test_a_file_of_a_newer_release_is_refused(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "store.db")) as db:
        db.execute(f"PRAGMA user_version = {len(STEPS) + 1}")
    with pytest.raises(UserError, match="newer release"):
        SqliteStore(tmp_path / "store.db")


async def test_every_commit_is_durable(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "store.db")
    row = await store._database.read(
        lambda db: [db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")]
    )
    assert row == ["wal", 2]
    await store.aclose()


def test_the_file_that_other_tests_copy_equals_a_new_one(tmp_path: Path) -> None:
    found = []
    for name, connect in (("created", _connect), ("copied", copying(_connect))):
        with closing(connect(tmp_path / name, 1_000)) as db:
            pragmas = ("user_version", "journal_mode", "page_size", "encoding", "wal_autocheckpoint")
            found.append(
                [db.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall()]
                + [db.execute(f"PRAGMA {pragma}").fetchone() for pragma in pragmas]
            )
    assert found[0] == found[1]
