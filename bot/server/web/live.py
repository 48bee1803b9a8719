"""Server-sent events: a run, or rows of the list, whenever they change, whichever process made the change.

Each process queries the store once a second for all of its watching browsers together. Postgres could notify, SQLite
could not, so both use the query (docs/decisions.md).
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.exceptions import HTTPException
from starlette.requests import Request

from bot.errors import RetryableError
from bot.server.web.auth.authentication import TooManyError
from bot.server.web.auth.sessions import Viewer, viewer_of
from bot.store.databases.database import StoreError
from bot.store.pages.rows import RunRow
from bot.store.pages.runs import Runs

if TYPE_CHECKING:
    from bot.server.web.site import Site

PACE = 1.0
"""Seconds between two queries of the store while anyone watches."""
MAX_WATCHERS = 200
"""Watching browsers per process."""
RECHECK = 20.0
"""Seconds between two checks that the viewer is still logged in and may still see the run."""
HEARTBEAT = 15
"""Seconds between heartbeats, because proxies close connections that are silent for longer."""
_SHARED = 128
_GRACE = 0.4
"""Seconds for a stream to end by itself at shutdown.

uvicorn waits one second (``HTTP_DRAIN``), and sse-starlette polls for the shutdown every half second.
"""
_RETRY, _RETRY_FULL = 2_000, 30_000
"""Milliseconds after which a browser reconnects."""
T = TypeVar("T")
Changes = dict[tuple[str, int], float]
"""When the runs that changed last did so, by issue key and number; the newest change first."""
Event = Callable[[RunRow, Viewer], Awaitable[ServerSentEvent]]
logger = logging.getLogger(__name__)


class TooManyWatchersError(Exception):
    """The limit of watchers is reached."""


class Live:
    """Values that all watchers of a process read together. The store is queried only while there are watchers."""

    def __init__(self, runs: Runs, pace: float = PACE) -> None:
        self.pace = pace
        self._runs = runs
        self._watchers = 0
        self._reading = asyncio.Lock()
        self._read_at = -math.inf
        self._changes: Changes = {}
        self._shared: OrderedDict[tuple[object, ...], asyncio.Task[Any]] = OrderedDict()

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Count a watcher for the duration of the block.

        Raises:
            TooManyWatchersError: ``MAX_WATCHERS`` browsers are watching already.
        """
        if self._watchers >= MAX_WATCHERS:
            raise TooManyWatchersError
        self._watchers += 1
        try:
            yield
        finally:
            self._watchers -= 1

    async def changes(self, after: float) -> Changes:
        """Return the latest changes, read after a time of the monotonic clock.

        Raises:
            StoreError: the store does not answer.
        """
        async with self._reading:
            if self._read_at < after:
                began = time.monotonic()
                self._changes = await self._runs.changes()
                self._read_at = began
            return self._changes

    async def row(self, key: tuple[str, int], changed_at: float) -> RunRow | None:
        """Return a run that changed, with one query for all watchers; None if it was deleted."""
        return await self.once(("changed", *key, changed_at), lambda: self._runs.row(*key))

    async def once(self, key: tuple[object, ...], made: Callable[[], Awaitable[T]]) -> T:
        """Return a value that all watchers with the same key share. The first caller makes it."""
        if key not in self._shared:
            self._shared[key] = asyncio.ensure_future(_awaited(made))
            while len(self._shared) > _SHARED:
                self._shared.popitem(last=False)
        try:
            # Shielded: a caller that is cancelled must not cancel what other callers wait for.
            shared: T = await asyncio.shield(self._shared[key])
        except StoreError:
            self._shared.pop(key, None)
            raise
        return shared


async def _awaited(made: Callable[[], Awaitable[T]]) -> T:
    return await made()


def stream(
    site: Site, request: Request, event: Event, *, shows: Callable[[RunRow], bool], only: RunRow | None = None
) -> EventSourceResponse:
    """Stream changes until the browser disconnects, loses its permission or the server stops.

    Args:
        site: the site that received the request.
        request: has the id of the last event that the browser received, or that its page shows.
        event: builds the event for a changed run.
        shows: whether a change belongs to this stream, regardless of the viewer's permissions.
        only: the run of a stream about a single run, which ends with the run.

    Raises:
        HTTPException: 400, the last event id is not a number.
    """
    over = anyio.Event()
    return EventSourceResponse(
        _events(site.live, _Rows(site, request, shows, only), event, over),
        ping=HEARTBEAT,
        headers={"Cache-Control": "no-store"},
        shutdown_event=over,
        shutdown_grace_period=_GRACE,
    )


def event_id(row: RunRow) -> str:
    """Return the id of the event for a run: the time of its last change."""
    return repr(row.changed_at)


async def _events(live: Live, rows: _Rows, event: Event, over: anyio.Event) -> AsyncIterator[ServerSentEvent]:
    try:
        with live.watching():
            yield ServerSentEvent(comment="watching", retry=_RETRY)
            while not over.is_set() and (viewer := await rows.viewer()) is not None:
                try:
                    async for row in rows.changed(viewer):
                        yield await event(row, viewer)
                        if rows.only is not None and row.over:
                            return
                except StoreError as error:
                    logger.warning("live pages: %s", error, extra={"action": "live_failed"})
                with anyio.move_on_after(live.pace):
                    await over.wait()
    except TooManyWatchersError:
        yield ServerSentEvent(comment="too many browsers are watching this server", retry=_RETRY_FULL)


class _Rows:
    """The changed runs for one browser."""

    def __init__(self, site: Site, request: Request, shows: Callable[[RunRow], bool], only: RunRow | None) -> None:
        self.only = only
        self._site = site
        self._request = request
        self._shows = shows
        self._seen = _seen(request)
        self._known: Changes | None = None
        self._viewer: Viewer | None = viewer_of(request)
        self._checked = time.monotonic()

    async def viewer(self) -> Viewer | None:
        """Return the viewer; None if they are logged out. A stream may be open for days, so it is checked again."""
        if time.monotonic() - self._checked >= RECHECK:
            self._checked = time.monotonic()
            try:
                self._viewer = await self._site.authenticator.viewer(self._request)
            except (TooManyError, RetryableError):
                self._viewer = None
        return self._viewer

    async def changed(self, viewer: Viewer) -> AsyncIterator[RunRow]:
        """Yield the runs that changed since the last call and that the viewer may see, the earliest change first.

        Raises:
            StoreError: the store does not answer; the next call yields what is missing.
        """
        live, before = self._site.live, self._known
        # The first changes are those that this browser need not receive, so they may not be older than its request.
        now = await live.changes(time.monotonic() - (0 if before is None else live.pace))
        self._known = now
        only = self.only
        # The latest changes of all runs may not reach back to what this browser saw last.
        if before is None and only is not None and (only.over or only.changed_at > self._seen):
            self._seen = only.changed_at
            yield only
        for key, at in reversed(now.items()):
            is_new = at > self._seen if before is None else before.get(key) != at
            row = await live.row(key, at) if is_new else None
            if row is not None and self._shows(row) and viewer.may_see(row.repository_key):
                yield row


def _seen(request: Request) -> float:
    last_event = request.headers.get("last-event-id") or request.query_params.get("seen", "")
    try:
        return float(last_event)
    except ValueError as error:
        if last_event:
            raise HTTPException(400) from error
        # Without a position only changes from now on are sent; the page has just been rendered.
        return time.time()
