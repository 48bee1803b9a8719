"""Pages take turns, so that many requests for them at once do not delay a delivery."""

from __future__ import annotations

import asyncio

from starlette.types import ASGIApp, Receive, Scope, Send

AT_ONCE = 4
"""Requests that begin in one round of the event loop; a page takes it a millisecond or two."""


class Turns:
    """Middleware: a few requests begin, then everything else that is ready runs, then the next few begin."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._free = asyncio.Semaphore(AT_ONCE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request when it is its turn."""
        await self._free.acquire()
        # Only the beginning is counted: a body that arrives slowly, or a stream, holds nobody up.
        asyncio.get_running_loop().call_soon(self._free.release)
        await self._app(scope, receive, send)
