"""Limits on requests: size and time of one body, total bytes of bodies in memory, and requests started at once."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Receive, Scope, Send

MAX_TOTAL = 64 * 1024 * 1024
"""Bytes of all bodies together: two of the largest deliveries, or thousands of usual ones."""
USUAL = 1024 * 1024
"""Bytes above which a body counts as large: the largest issue or comment with everything that GitHub adds to it."""
LARGE_AT_ONCE = 2
"""Larger bodies that are read at the same time: reading and hashing them delays everything else."""
AT_ONCE = 4
"""Requests that begin in one round of the event loop; a page takes it a millisecond or two."""

FORM_SECONDS, MAX_FORM = 10.0, 16_384
"""Seconds within which a whole form must arrive, and its maximum size in bytes."""


async def read_form(request: Request) -> dict[str, str]:
    """Return the fields of a small form. Of a repeated field, the last value is used.

    Raises:
        HTTPException: 400, not a form or more than 50 fields; 408, incomplete after ``FORM_SECONDS``; 413, too large.
    """
    body = await read_body(request, MAX_FORM, FORM_SECONDS)
    try:
        return dict(parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=50))
    except ValueError as error:
        raise HTTPException(400) from error


async def read_body(request: Request, most: int, seconds: float) -> bytes:
    """Return a request's body; HTTPException 408 if it is late, 413 if it has more than ``most`` bytes."""
    body = bytearray()
    try:
        async with asyncio.timeout(seconds):
            # Counted while it arrives, because a chunked request states no length.
            async for piece in request.stream():
                body += piece
                if len(body) > most:
                    raise HTTPException(413, f"the body has more than {most} bytes", {"connection": "close"})
    except (TimeoutError, ClientDisconnect) as error:
        raise HTTPException(408, "the body arrived too slowly", {"connection": "close"}) from error
    return bytes(body)


class NoRoomError(Exception):
    """The body was dropped to make room for smaller ones."""


class Body:
    """One body that is being read."""

    def __init__(self, bodies: "Bodies") -> None:
        self._bodies = bodies
        self._timeout: asyncio.Timeout | None = None
        self._is_large = False
        self.size = 0
        self.dropped = False
        """Whether it was dropped to make room for others."""

    async def hold(self, size: int) -> None:
        """Count more bytes; a large body waits here for its turn; NoRoomError if it is the largest and has no room."""
        self.size += size
        self._bodies.make_room()
        if self.dropped:
            raise NoRoomError
        if self.size > USUAL and not self._is_large:
            # Counted before the wait, so that bodies that wait for their turn can be dropped too.
            await self._bodies.large.acquire()
            self._is_large = True

    @asynccontextmanager
    async def reading(self, until: float) -> AsyncIterator[None]:
        """Count the body as being read during a block, in which it may be dropped; ``until`` is the loop's time.

        Raises:
            TimeoutError: it was not read by then, or it was dropped.
        """
        async with asyncio.timeout_at(until) as timeout:
            self._timeout = timeout
            try:
                yield
            finally:
                self._timeout = None
                if self._is_large:
                    self._bodies.large.release()

    @property
    def is_read(self) -> bool:
        """Whether it has arrived completely."""
        return self._timeout is None

    def drop(self) -> None:
        """Stop reading it, whatever its reader waits for."""
        self.dropped = True
        if self._timeout is not None:
            # A deadline in the past cancels the reader at its next step, even while it waits for the semaphore.
            self._timeout.reschedule(0.0)


class Bodies:
    """All bodies in memory; dropping the largest first keeps room for a usual delivery of about 20 kB."""

    def __init__(self) -> None:
        self._held: set[Body] = set()
        self.large = asyncio.Semaphore(LARGE_AT_ONCE)

    @contextmanager
    def one(self) -> Iterator[Body]:
        """Count one body for the duration of a block."""
        body = Body(self)
        self._held.add(body)
        try:
            yield body
        finally:
            self._held.discard(body)

    def make_room(self) -> None:
        """Drop the largest of the bodies that are being read until the others fit."""
        # Bodies that were read completely are never dropped: they are about to be stored.
        while sum(body.size for body in self._held) > MAX_TOTAL:
            largest = max((body for body in self._held if not body.is_read), key=lambda body: body.size, default=None)
            if largest is None:
                return
            self._held.discard(largest)
            largest.drop()


class Turns:
    """Middleware that starts a few requests in each round of the event loop, so that other tasks run in between."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._free = asyncio.Semaphore(AT_ONCE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request when it is its turn."""
        await self._free.acquire()
        # Released in the next round: only the start is counted, so a slow body or a stream delays no other request.
        asyncio.get_running_loop().call_soon(self._free.release)
        await self._app(scope, receive, send)
