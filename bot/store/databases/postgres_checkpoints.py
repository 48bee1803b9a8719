"""Store checkpoints in Postgres, so that any worker can resume a run."""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from secrets import token_hex
from typing import Any

import psycopg
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata, CheckpointTuple
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from psycopg import AsyncConnection
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool

from bot.store.databases.database import StoreError
from bot.store.databases.postgres import SERVER_SECONDS, address, driver_message, storable
from nodes.state.checkpoints import migrated, serializer

CONNECTIONS = 4
"""Connections of one process at most."""
_LONG = 200
"""Characters from which a text is stored as bytes next to a checkpoint's JSON."""


class PostgresCheckpoints(AsyncPostgresSaver):
    """Postgres checkpoints, migrated when they are loaded."""

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Load a checkpoint and migrate it to the current schema."""
        with _translated_errors():
            return migrated(_with_texts(await super().aget_tuple(config)))

    def get_next_version(self, current: str | None, channel: None) -> str:  # noqa: ARG002  the saver's signature
        """Return the next version of a value: short, after the current one, and different in each branch."""
        # Digits are padded, because LangGraph compares versions as text. Checkpoints of older releases have LangGraph's
        # own longer form, which begins with the number too.
        number = int(current.split(".")[0]) if isinstance(current, str) else current or 0
        return f"{number + 1:06}.{token_hex(4)}"

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Save a checkpoint without characters that JSON cannot store, and a long text once, as bytes."""
        values = {name: _compact(value) for name, value in checkpoint["channel_values"].items()}
        with _translated_errors():
            return await super().aput(config, {**checkpoint, "channel_values": values}, metadata, new_versions)

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Save the writes of a node."""
        with _translated_errors():
            await super().aput_writes(config, writes, task_id, task_path)

    async def adelete_thread(self, thread_id: str) -> None:
        """Delete a run's checkpoints."""
        with _translated_errors():
            await super().adelete_thread(thread_id)


def _compact(value: object) -> object:
    if not isinstance(value, str):
        return value
    text = storable(value)
    return text.encode() if len(text) >= _LONG else text


def _with_texts(found: CheckpointTuple | None) -> CheckpointTuple | None:
    """Decode the long texts; nothing else in a state is bytes."""
    if found is None:
        return None
    values = {
        name: value.decode() if isinstance(value, bytes) else value
        for name, value in found.checkpoint["channel_values"].items()
    }
    return found._replace(checkpoint={**found.checkpoint, "channel_values": values})


@contextmanager
def _translated_errors() -> Iterator[None]:
    """Raise ``StoreError`` for an unreachable database, so that the job is retried and the run does not fail."""
    try:
        yield
    except psycopg.OperationalError as error:
        raise StoreError(driver_message(error)) from error


@asynccontextmanager
async def open_postgres_checkpoints(url: str) -> AsyncIterator[PostgresCheckpoints]:
    """Open the checkpoints of a database that ``triage migrate`` prepared."""
    pool: AsyncConnectionPool[AsyncConnection[dict[str, Any]]] = AsyncConnectionPool(
        address(url),
        # As ``AsyncPostgresSaver.from_conn_string`` sets them: the saver relies on autocommit and on rows as dicts.
        kwargs={"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row},
        check=AsyncConnectionPool.check_connection,
        min_size=1,
        max_size=CONNECTIONS,
        timeout=SERVER_SECONDS,
        # ``async with`` opens the pool; psycopg deprecates opening it in the constructor of an asynchronous pool.
        open=False,
    )
    async with pool:
        yield PostgresCheckpoints(pool, serde=serializer())
