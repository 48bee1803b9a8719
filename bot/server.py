"""One process that answers GitHub, and one beside it that works."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
from collections.abc import Iterator

import uvicorn

from bot.app import build_app
from bot.dispatch.child import WorkerProcess
from bot.dispatch.lock import DirectoryLock
from bot.server_settings import ServerSettings
from bot.store.sqlite import SqliteStore

HTTP_DRAIN = 1
"""Seconds for answers that are under way when the server is told to stop."""

logger = logging.getLogger(__name__)


def serve(settings: ServerSettings, *, host: str, port: int) -> None:
    """Serve until told to stop; then let what runs end within ten seconds.

    Raises:
        UserError: another server works in the data directory, or it was written by a newer release.
    """
    lock = DirectoryLock(settings.data_dir)
    store = SqliteStore(settings.data_dir / "store.db", tidy=False)  # the worker does
    app = build_app(settings, store, WorkerProcess(store.jobs, lock.descriptor))
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=HTTP_DRAIN,
    )
    try:
        _Server(config).run()
    finally:
        asyncio.run(store.aclose())
        lock.release()


class _Server(uvicorn.Server):
    """Says where it listens, and ends with 0 when it was told to end."""

    async def startup(self, sockets: list[object] | None = None) -> None:  # type: ignore[override]
        """Say where."""
        await super().startup(sockets)  # type: ignore[arg-type]
        for server in self.servers:
            for socket in server.sockets:
                host, port = socket.getsockname()[:2]
                logger.info("listening on %s port %s", host, port, extra={"action": "listening"})

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop on SIGTERM and Ctrl-C without raising them again afterwards."""
        loop = asyncio.get_running_loop()
        for name in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(name, self.handle_exit, name, None)
        yield
