"""Run procrastinate on the store's database, and survive restarts of the server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any, LiteralString, TypeVar

import psycopg
from procrastinate import App, PsycopgConnector
from procrastinate.connector import Notify
from procrastinate.exceptions import ConnectorException
from procrastinate.sql import queries
from psycopg.errors import RaiseException
from psycopg_pool import PoolClosed

from bot.store.databases.postgres.store import address

CONNECTIONS = 4
"""Connections of one process at most, plus one for each queue that it listens to."""

T = TypeVar("T")
Away = Callable[[Exception], Awaitable[None]]
"""Called before a statement is retried; it waits."""
_ENDINGS = (queries["finish_job"], queries["retry_job"])


class RetryingConnector(PsycopgConnector):
    """Retries while the server is unavailable, so that no heartbeat ends and workers keep their registration."""

    def __init__(self, *, away: Away, **settings: Any) -> None:
        super().__init__(**settings)
        self._away = away
        self.workers: set[int] = set()
        """The ids that procrastinate assigned to the workers of this process."""

    async def execute_query_async(self, query: LiteralString, **arguments: Any) -> None:
        """Run a statement that returns nothing."""
        try:
            await self._with_retries(lambda: super(RetryingConnector, self).execute_query_async(query, **arguments))
        except ConnectorException as error:
            # Another worker received the wake-up while this process was frozen. The jobs table still knows what is due.
            if query not in _ENDINGS or not isinstance(error.__cause__, RaiseException):
                raise

    async def execute_query_one_async(self, query: LiteralString, **arguments: Any) -> dict[str, Any]:
        """Run a statement that returns one row."""
        row: dict[str, Any] = await self._with_retries(
            lambda: super(RetryingConnector, self).execute_query_one_async(query, **arguments)
        )
        if query == queries["register_worker"]:
            self.workers.add(row["worker_id"])
        return row

    async def execute_query_all_async(self, query: LiteralString, **arguments: Any) -> list[dict[str, Any]]:
        """Run a statement that returns rows."""
        return await self._with_retries(
            lambda: super(RetryingConnector, self).execute_query_all_async(query, **arguments)
        )

    async def listen_notify(self, on_notification: Notify, channels: Iterable[str]) -> None:
        """Listen on channels, and listen again after each lost connection."""
        # An iterator would be empty at the second attempt.
        names = list(channels)
        await self._with_retries(lambda: super(RetryingConnector, self).listen_notify(on_notification, names))

    async def _with_retries(self, attempt: Callable[[], Awaitable[T]]) -> T:
        while True:
            try:
                return await attempt()
            except ConnectorException as error:
                cause = error.__cause__
                # PoolClosed is an OperationalError too, but means that this process ends: a retry would never succeed.
                if not isinstance(cause, psycopg.OperationalError) or isinstance(cause, PoolClosed):
                    raise
                await self._away(cause)


async def _each_by_itself(connection: psycopg.AsyncConnection[Any]) -> None:
    await connection.set_autocommit(True)


@asynccontextmanager
async def open_engine(url: str, away: Away) -> AsyncIterator[tuple[App, RetryingConnector]]:
    """Open procrastinate with a connected pool."""
    connector = RetryingConnector(
        away=away, conninfo=address(url), min_size=1, max_size=CONNECTIONS, timeout=5.0, configure=_each_by_itself
    )
    async with App(connector=connector).open_async() as app:
        yield app, connector
