"""Save a run that waits for an answer with the current code: the raw rows of its checkpoints.

python tests/upgrade/keep.py FILE sqlite|postgres [--before-versions]

Run it in a checkout of the release whose checkpoints are to be saved; it uses only code that this release has.
"""

from __future__ import annotations

import asyncio
import base64
import gzip
import json
import sqlite3
import sys
import tempfile
from pathlib import Path
from typing import Any

import aiosqlite

from nodes.graph import build_graph
from nodes.run import advance, initial_state
from nodes.state import Waiting
from nodes.state.checkpoints import SqliteCheckpoints, serializer
from tests.support.fakes import SHA, ScriptedBrain, context, decide

THREAD = "github.com/9#5:1"
SQLITE, POSTGRES = ("checkpoints", "writes"), ("checkpoints", "checkpoint_blobs", "checkpoint_writes")


async def wait_in(saver: Any, *, before_versions: bool) -> tuple[str, dict[str, str]]:
    """Run until a question is asked; return its id and the gathered evidence."""
    start = initial_state("scan hangs", "open quote", repository="o/r", sha=SHA)
    if before_versions:
        start = start.model_copy(update={"schema_version": 0})
    given = context(ScriptedBrain([decide("codebase_search"), decide("human_input", question="Which version?")]))
    graph = build_graph(saver)
    waiting = await advance(graph, given, THREAD, start)
    assert isinstance(waiting, Waiting)
    state = await graph.aget_state({"configurable": {"thread_id": THREAD}})
    evidence = await given.evidence.get(state.values["evidence"])
    return waiting.exchange.question_id, {key: one.model_dump_json() for key, one in evidence.items()}


async def in_sqlite(*, before_versions: bool) -> dict[str, Any]:
    """Return the rows of a file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "checkpoints.db"
        async with aiosqlite.connect(path) as connection:
            saver = SqliteCheckpoints(connection, serde=serializer())
            question, evidence = await wait_in(saver, before_versions=before_versions)
        db = sqlite3.connect(path)
        tables = {table: _rows(db.execute(f"SELECT * FROM {table}")) for table in SQLITE}
        db.close()
    return {"question": question, "evidence": evidence, "tables": tables}


async def in_postgres(*, before_versions: bool) -> dict[str, Any]:
    """Return the rows of a database."""
    import psycopg

    from bot.store.databases.postgres import connect
    from bot.store.databases.postgres_checkpoints import open_postgres_checkpoints
    from bot.store.databases.postgres_schema import migrate
    from tests.servers.postgres import serve_postgres

    with serve_postgres() as server:
        url = server.create()
        with connect(url) as connection:
            migrate(connection)
        async with open_postgres_checkpoints(url) as saver:
            question, evidence = await wait_in(saver, before_versions=before_versions)
        with psycopg.connect(url) as plain:
            tables = {table: _rows(plain.execute(f"SELECT * FROM {table}".encode())) for table in POSTGRES}
    return {"question": question, "evidence": evidence, "tables": tables}


def _rows(cursor: Any) -> list[dict[str, Any]]:
    names = [column[0] for column in cursor.description]
    return [{name: _plain(value) for name, value in zip(names, row, strict=True)} for row in cursor]


def _plain(value: Any) -> Any:
    return {"bytes": base64.b64encode(bytes(value)).decode()} if isinstance(value, bytes | memoryview) else value


if __name__ == "__main__":
    keep = {"sqlite": in_sqlite, "postgres": in_postgres}[sys.argv[2]]
    kept = asyncio.run(keep(before_versions="--before-versions" in sys.argv))
    Path(sys.argv[1]).write_bytes(gzip.compress(json.dumps(kept).encode(), 9, mtime=0))
