"""Each writer finds a full disk: no data is damaged, no traceback is printed, and work continues later."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bot.store.databases.checkpoints import open_checkpoints
from bot.store.databases.database import StoreError
from bot.store.databases.sqlite_file import SqliteDatabase
from nodes.graph import build_graph
from nodes.run import advance, initial_state
from nodes.search.cache import Cache
from nodes.state.checkpoints import SqliteCheckpoints, serializer
from tests.cli.process import ROOT
from tests.support.fakes import SHA, ScriptedBrain, context
from tests.support.small_disk import filled, small_disk

ROW = "INSERT INTO deliveries (guid, event, body, received_at) VALUES (?, 'ping', ?, 0)"


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    with small_disk(tmp_path / "disk") as folder:
        yield folder


async def test_the_store_keeps_what_it_acknowledged_and_accepts_more_afterwards(disk: Path) -> None:
    database = SqliteDatabase(disk / "store.db")
    accepted, refused = [], 0
    with filled(disk, 100_000):
        for number in range(60):
            try:
                await database.do(lambda db, number=number: db.execute(ROW, (str(number), b"x" * 4_000)))
            except StoreError:
                refused += 1
            else:
                accepted.append(str(number))
    assert refused
    await database.do(lambda db: db.execute(ROW, ("later", b"x")))
    rows = await database.read(lambda db: db.execute("SELECT guid FROM deliveries ORDER BY rowid").fetchall())
    assert [guid for (guid,) in rows] == [*accepted, "later"]
    await database.aclose()


async def test_a_run_without_room_for_its_checkpoints_can_start_again(disk: Path) -> None:
    start = initial_state("scan hangs", "open quote", repository="o/r", sha=SHA)

    async def run() -> Any:
        async with open_checkpoints(disk / "checkpoints.db") as connection:
            graph = build_graph(SqliteCheckpoints(connection, serde=serializer()))
            return await advance(graph, context(ScriptedBrain()), "t", start)

    with filled(disk, 40_000), pytest.raises(StoreError):
        await run()
    assert (await run()).state.report is not None


def test_the_index_is_not_stored_and_then_stored(disk: Path, caplog: pytest.LogCaptureFixture) -> None:
    cache = Cache(disk / "index")
    cache.put_tree("first", b"1")
    with filled(disk):
        for number in range(5):
            cache.put_tree(str(number), b"x" * 500_000)
        assert cache.tree("first") == b"1"
    (record,) = caplog.records
    assert "not cached" in record.message
    assert record.exc_info is None
    cache.put_tree("later", b"2")
    assert (cache.tree("first"), cache.tree("later")) == (b"1", b"2")


def test_a_log_line_without_room_is_lost_and_stops_nothing(disk: Path) -> None:
    program = """
import logging, os, sys
from bot.observability.logs import log_to_stderr
log_to_stderr()
for number in range(100):
    logging.getLogger("bot.x").warning("line %s %s", number, "x" * 1_000)
os.unlink(sys.argv[1])
logging.getLogger("bot.x").warning("the end")
"""
    log = disk / "log"
    with log.open("w") as file, filled(disk, 20_000):
        words = [sys.executable, "-c", program, str(disk / "fill")]
        done = subprocess.run(words, stderr=file, cwd=ROOT, check=False)
        (disk / "fill").touch()
    assert done.returncode == 0
    assert "the end" in log.read_text()
    assert "Traceback" not in log.read_text()
