"""Publish changes of runs to watching browsers.

Each process queries the store once a second for all of its watchers together, whichever process made the change.
Postgres could notify, SQLite could not, so both use the query (docs/decisions.md).
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

import anyio

from bot.store.databases.database import StoreError
from bot.store.pages.rows import RunRow
from bot.store.pages.runs import Runs

PACE = 1.0
"""Seconds between two queries of the store while anyone watches."""
MAX_WATCHERS = 200
"""Watching browsers per process."""
_ROOM = 100
"""Queued changes per browser. A slower browser is disconnected and reconnects with its last event id."""
_RENDERED = 128

Changes = asyncio.Queue[RunRow | None]
"""Runs in their current state; None if the watcher fell behind or must stop."""

logger = logging.getLogger(__name__)


class TooManyWatchersError(Exception):
    """The limit of watchers is reached."""


class Live:
    """Sends changes to watchers. It queries the store only while there are watchers."""

    def __init__(self, runs: Runs, pace: float = PACE) -> None:
        self._runs = runs
        self._pace = pace
        self._watchers: set[Changes] = set()
        self._polling: asyncio.Task[None] | None = None
        self._known: dict[tuple[str, int], float] | None = None
        self._queried = asyncio.Event()
        self._rendered: OrderedDict[tuple[object, ...], asyncio.Task[str]] = OrderedDict()

    @contextmanager
    def watching(self, over: anyio.Event | None = None) -> Iterator[Changes]:
        """Subscribe to every change after the next query; wait for that query with ``wait_for_query``.

        Args:
            over: when this event is set, the subscription ends too.

        Raises:
            TooManyWatchersError: ``MAX_WATCHERS`` browsers are watching already.
        """
        if len(self._watchers) >= MAX_WATCHERS:
            raise TooManyWatchersError
        changes: Changes = asyncio.Queue(_ROOM)
        self._watchers.add(changes)
        if self._polling is None:
            self._queried.clear()
            self._polling = asyncio.create_task(self._poll())
        ends = asyncio.create_task(_end(over, changes)) if over is not None else None
        try:
            yield changes
        finally:
            if ends is not None:
                ends.cancel()
            self._watchers.discard(changes)
            if not self._watchers and self._polling is not None:
                # Without watchers the store is not queried at all.
                self._polling.cancel()
                self._polling = self._known = None

    async def wait_for_query(self) -> None:
        """Wait for the first query of the store. Every change after it is published."""
        await self._queried.wait()

    async def once(self, key: tuple[object, ...], render: Callable[[], Awaitable[str]]) -> str:
        """Return a rendered text that all watchers with the same key share. The first caller renders it."""
        if key not in self._rendered:
            self._rendered[key] = asyncio.ensure_future(_awaited(render))
            while len(self._rendered) > _RENDERED:
                self._rendered.popitem(last=False)
        # Shielded: a caller that is cancelled must not cancel the rendering that other callers wait for.
        return await asyncio.shield(self._rendered[key])

    async def _poll(self) -> None:
        while True:
            try:
                await self._publish(await self._runs.changes())
                self._queried.set()
            except StoreError as error:
                logger.warning("live pages: %s", error, extra={"action": "live_failed"})
            await asyncio.sleep(self._pace)

    async def _publish(self, now: dict[tuple[str, int], float]) -> None:
        before, self._known = self._known, now
        # The first query only sets the baseline.
        if before is None:
            return
        # The store lists the newest change first.
        for (issue_key, number), changed in reversed(now.items()):
            if before.get((issue_key, number)) != changed:
                # One query for each changed run, whatever the number of browsers.
                row = await self._runs.row(issue_key, number)
                for watcher in list(self._watchers) if row else ():
                    _put(watcher, row)


async def _awaited(render: Callable[[], Awaitable[str]]) -> str:
    return await render()


async def _end(over: anyio.Event, watcher: Changes) -> None:
    await over.wait()
    while not watcher.empty():
        watcher.get_nowait()
    watcher.put_nowait(None)


def _put(watcher: Changes, row: RunRow | None) -> None:
    # A watcher that is too slow gets only None, which ends its stream. Its browser reconnects and reads the rest.
    if watcher.full():
        while not watcher.empty():
            watcher.get_nowait()
        row = None
    watcher.put_nowait(row)
