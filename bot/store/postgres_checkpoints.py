"""Checkpoints in Postgres: any worker goes on where another one stopped."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata, CheckpointTuple
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from psycopg import AsyncConnection
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool

from bot.store.postgres import address, storable
from nodes.checkpoints import migrated, serializer

CONNECTIONS = 4
"""Of one process at the most."""


class PostgresCheckpoints(AsyncPostgresSaver):
    """Postgres checkpoints, migrated when they are loaded."""

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Load a checkpoint in the current schema."""
        return migrated(await super().aget_tuple(config))

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Save a checkpoint; what its text has that Postgres's JSON has not is replaced."""
        values = {
            name: storable(value) if isinstance(value, str) else value
            for name, value in checkpoint["channel_values"].items()
        }
        return await super().aput(config, {**checkpoint, "channel_values": values}, metadata, new_versions)


@asynccontextmanager
async def open_postgres_checkpoints(url: str) -> AsyncIterator[PostgresCheckpoints]:
    """The checkpoints of a database that ``triage migrate`` made ready."""
    pool: AsyncConnectionPool[AsyncConnection[dict[str, Any]]] = AsyncConnectionPool(
        address(url),
        kwargs={"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row},
        check=AsyncConnectionPool.check_connection,  # a restart leaves connections that lead nowhere
        min_size=1,
        max_size=CONNECTIONS,
        open=False,
    )
    async with pool:
        yield PostgresCheckpoints(pool, serde=serializer())
