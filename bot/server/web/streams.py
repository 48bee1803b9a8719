"""Server-sent events: a run, or rows of the list, whenever they change."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

import anyio
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.exceptions import HTTPException
from starlette.requests import Request

from bot.errors import RetryableError
from bot.server.web.auth.authentication import TooManyError
from bot.server.web.auth.sessions import Viewer, viewer_of
from bot.server.web.live import Changes, TooManyWatchersError
from bot.server.web.site import site_of
from bot.store.pages.rows import RunRow

RECHECK = 20.0
"""Seconds between two checks that the viewer is still logged in and may still see the run."""
HEARTBEAT = 15
"""Seconds between heartbeats, because proxies close connections that are silent for longer."""
_GRACE = 0.4
"""Seconds for a stream to end by itself at shutdown.

uvicorn waits one second (``HTTP_DRAIN``), and sse-starlette polls for the shutdown every half second.
"""
_RETRY = 2_000
"""Milliseconds after which a browser reconnects."""


@dataclass(frozen=True, slots=True)
class Watch:
    """The subscription of one browser."""

    shows: Callable[[RunRow], bool]
    """Whether a change belongs to this watch, regardless of the viewer's permissions."""
    event: Callable[[RunRow, Viewer], Awaitable[ServerSentEvent]]
    """Builds the event for a changed run."""
    missed: Callable[[float], Awaitable[list[RunRow]]]
    """Returns the runs that changed after a time (seconds since 1970), earliest first; used for reconnects."""
    ends: Callable[[RunRow], bool] = lambda _row: False
    """Whether the stream ends after this change."""


def stream(request: Request, watch: Watch) -> EventSourceResponse:
    """Stream changes until the browser disconnects, loses its permission or the server stops.

    Raises:
        HTTPException: 400, the last event id is not a number.
    """
    over = anyio.Event()
    return EventSourceResponse(
        _events(request, watch, _seen(request), over),
        ping=HEARTBEAT,
        headers={"Cache-Control": "no-store"},
        shutdown_event=over,
        shutdown_grace_period=_GRACE,
    )


def event_id(row: RunRow) -> str:
    """Return the id of the event for a run: the time of its last change."""
    return repr(row.changed_at)


async def _events(request: Request, watch: Watch, seen: float, over: anyio.Event) -> AsyncIterator[ServerSentEvent]:
    site = site_of(request)
    try:
        # Subscribe and wait for the first query before reading missed changes; otherwise a change in between is lost.
        with site.live.watching(over) as changes:
            yield ServerSentEvent(comment="watching", retry=_RETRY)
            await site.live.wait_for_query()
            async for row, viewer in _allowed(request, watch, changes, seen):
                yield await watch.event(row, viewer)
                if watch.ends(row):
                    return
    except TooManyWatchersError:
        yield ServerSentEvent(comment="too many browsers are watching this server", retry=30_000)


async def _allowed(
    request: Request, watch: Watch, changes: Changes, seen: float
) -> AsyncIterator[tuple[RunRow, Viewer]]:
    """Yield the missed changes and then new ones, while the viewer is logged in, limited to what they may see."""
    # A stream may be open for days, so the login is checked again and again.
    viewer, checked = viewer_of(request), time.monotonic()
    for row in await watch.missed(seen):
        if watch.shows(row) and viewer.may_see(row.repository_key):
            yield row, viewer
    while True:
        changed = await _next(changes, RECHECK)
        if time.monotonic() - checked >= RECHECK:
            now = await _viewer(request)
            if now is None:
                return
            viewer, checked = now, time.monotonic()
        if changed is _BEHIND:
            return
        if isinstance(changed, RunRow) and watch.shows(changed) and viewer.may_see(changed.repository_key):
            yield changed, viewer


class _Behind:
    """Marks that the browser fell too far behind to receive every change."""


_BEHIND = _Behind()


async def _next(changes: Changes, seconds: float) -> RunRow | _Behind | None:
    """Return the next change; None if none arrives within the given seconds."""
    try:
        return await asyncio.wait_for(changes.get(), seconds) or _BEHIND
    except TimeoutError:
        return None


async def _viewer(request: Request) -> Viewer | None:
    try:
        return await site_of(request).authenticator.viewer(request)
    except (TooManyError, RetryableError):
        return None


def _seen(request: Request) -> float:
    last_event = request.headers.get("last-event-id") or request.query_params.get("seen", "")
    try:
        return float(last_event)
    except ValueError as error:
        if last_event:
            raise HTTPException(400) from error
        # Without a position only changes from now on are sent; the page has just been rendered.
        return time.time()
