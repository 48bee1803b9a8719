"""One process that answers GitHub, and one beside it that works."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import socket
from collections.abc import Iterator
from typing import Literal

import uvicorn
from starlette.types import ASGIApp

from bot.app import PATH, build_app
from bot.connections import Connections, connection_limit, limited_protocol
from bot.dispatch.alone import locked, opened, worker_process
from bot.errors import UserError
from bot.server_settings import ServerSettings
from bot.store.tables import Store

HTTP_DRAIN = 1
"""Seconds for answers that are under way when the server is told to stop."""

logger = logging.getLogger(__name__)


class Elsewhere:
    """Workers that are other processes: the database wakes them, and holds their signs of life."""

    fault = ""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def not_ready(self) -> str:
        """Why jobs are not worked on; empty if they are.

        Raises:
            StoreError: the store does not answer.
        """
        return "" if await self._store.heartbeats.alive() else "no worker gives a sign of life"

    async def start(self) -> None:
        """Nothing to start."""

    def wake(self) -> None:
        """The database has done it."""

    async def stop(self) -> None:
        """They continue."""


def serve(settings: ServerSettings, listener: socket.socket, *, work: bool = True) -> None:
    """Serve until told to stop; then let what runs end within ten seconds.

    Args:
        settings: of the server.
        listener: where it listens.
        work: on what is stored, too; ``triage worker`` does otherwise.

    Raises:
        UserError: nothing can be worked on with these settings, or another server works in the data directory.
    """
    with contextlib.ExitStack() as stack:
        lock = locked(settings.data_dir, stack) if work else None
        store = opened(settings, tidy=False)  # the worker does
        stack.callback(lambda: asyncio.run(store.aclose()))
        worker = worker_process(settings, store, lock, _stop) if lock else Elsewhere(store)
        _Server(server_config(build_app(settings, store, worker))).run([listener])
    if worker.fault:
        raise UserError(worker.fault)


def _stop() -> None:
    signal.raise_signal(signal.SIGTERM)


def serve_until(app: ASGIApp, listener: socket.socket, done: asyncio.Event) -> None:
    """Serve until something is done or the process is told to stop; what is being answered is answered."""
    _Server(server_config(app, lifespan="off"), done).run([listener])


def server_config(
    app: ASGIApp, *, lifespan: Literal["on", "off"] = "on", connections: Connections | None = None
) -> uvicorn.Config:
    """How uvicorn serves an application, with limits on connections."""
    if connections is None:
        connections = Connections(connection_limit())
    return uvicorn.Config(
        app,
        http=limited_protocol(connections, PATH),
        lifespan=lifespan,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # any caller can write them
        ws="none",
        timeout_graceful_shutdown=HTTP_DRAIN,
    )


def listening(host: str, port: int) -> socket.socket:
    """A socket at the address, IPv6 too.

    Raises:
        UserError: it is taken, or no address of this machine's.
    """
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        return socket.create_server(address[:2], family=family, backlog=2_048)
    except OSError as error:
        raise UserError(f"cannot listen on {host} port {port}: {error.strerror}; set HOST or PORT") from error


class _Server(uvicorn.Server):
    """Says where it listens, and ends with 0 when it was told to end."""

    def __init__(self, config: uvicorn.Config, done: asyncio.Event | None = None) -> None:
        super().__init__(config)
        self._done = done

    async def on_tick(self, counter: int) -> bool:
        """Whether to end."""
        return await super().on_tick(counter) or (self._done is not None and self._done.is_set())

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Say where."""
        await super().startup(sockets)
        for one in sockets or ():
            host, port = one.getsockname()[:2]
            logger.info("listening on %s port %s", host, port, extra={"action": "listening"})

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop on SIGTERM and Ctrl-C without raising them again afterwards."""
        loop = asyncio.get_running_loop()
        for name in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(name, self.handle_exit, name, None)
        yield
