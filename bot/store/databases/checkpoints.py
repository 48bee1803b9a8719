"""Open the checkpoints, which contain the progress of runs; everything else in them is stored elsewhere too."""

import logging
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiosqlite
from langgraph.checkpoint.base import BaseCheckpointSaver

from bot.settings.environment import Settings
from bot.store.databases.database import StoreError
from nodes.state.checkpoints import SqliteCheckpoints, serializer

logger = logging.getLogger(__name__)


@asynccontextmanager
async def open_saver(settings: Settings) -> AsyncIterator[BaseCheckpointSaver[Any]]:
    """Open the checkpoints: in the data directory or in Postgres, wherever the store is."""
    if settings.database_url is None:
        async with open_checkpoints(settings.triage_data_dir / "checkpoints.db") as connection:
            yield SqliteCheckpoints(connection, serde=serializer())
    else:
        from bot.store.databases.postgres_checkpoints import open_postgres_checkpoints  # noqa: PLC0415  an extra

        async with open_postgres_checkpoints(settings.database_url.get_secret_value()) as saver:
            yield saver


@asynccontextmanager
async def open_checkpoints(path: Path) -> AsyncIterator[aiosqlite.Connection]:
    """Open or create the file; move a damaged one aside, as its runs can start again; raises ``StoreError``."""
    try:
        if not await _is_sound(path):
            _set_aside(path)
        async with aiosqlite.connect(path) as connection:
            yield connection
    except sqlite3.OperationalError as error:
        raise StoreError(str(error)) from error


async def _is_sound(path: Path) -> bool:
    async with aiosqlite.connect(path) as connection:
        try:
            # quick_check skips the comparison of indexes with tables, which would delay each start. The 1 limits the
            # errors that it lists.
            result = await connection.execute_fetchall("PRAGMA quick_check(1)")
        except sqlite3.OperationalError:
            raise  # the disk is full, or the file cannot be read: the file is not damaged
        except sqlite3.DatabaseError:
            return False
        return [tuple(row) for row in result] == [("ok",)]


def _set_aside(path: Path) -> None:
    aside = path.replace(path.with_name(f"{path.name}.damaged"))
    # SQLite would replay the damaged file's write-ahead log into the new file.
    for left in ("-wal", "-shm"):
        path.with_name(path.name + left).unlink(missing_ok=True)
    logger.error("%s is damaged, and was renamed to %s", path, aside.name, extra={"action": "checkpoints_lost"})
