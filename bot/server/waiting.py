"""Open the store, and answer every request with the reason while the database does not respond."""

from __future__ import annotations

import asyncio
import threading

from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from bot.errors import UserError
from bot.settings.server import ServerSettings
from bot.store.tables import Store
from bot.worker.dispatch.worker_process import opened

_QUICK = 0.5
"""Seconds in which a database normally responds."""


class OpeningStore:
    """Opens the store in a thread; until then it is an application that answers 503."""

    def __init__(self, settings: ServerSettings) -> None:
        self.done = asyncio.Event()
        """Set when the store is open, or cannot be opened."""
        self._settings = settings
        self._store: Store | None = None
        self._fault: UserError | None = None
        self._thread = threading.Thread(target=self._open, daemon=True)

    def start(self) -> bool:
        """Begin to open the store; True if it was opened, or failed, at once."""
        self._thread.start()
        self._thread.join(_QUICK)
        return not self._thread.is_alive()

    def result(self) -> Store | None:
        """Return the store; None if it is not open yet.

        Raises:
            UserError: it cannot be used.
        """
        if self._fault is not None:
            raise self._fault
        return self._store

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer that the store is not open yet. GitHub counts a delivery as failed, and it is asked for again."""
        problem = {"ready": False, "faults": ["the database does not respond yet"]}
        await JSONResponse(problem, 503, {"Retry-After": "3"})(scope, receive, send)

    def _open(self) -> None:
        try:
            self._store = opened(self._settings, tidy=False)  # the worker tidies it
        except UserError as error:
            self._fault = error
        finally:
            self.done.set()
