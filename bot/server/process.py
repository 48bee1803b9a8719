"""Run the web server, and a worker process."""

import asyncio
import contextlib
import logging
import signal
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from functools import partial
from typing import Literal

import uvicorn
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from bot.errors import UserError
from bot.server.app import build_app
from bot.server.connections.protocol import limited_protocol
from bot.server.connections.registry import Connections, connection_limit
from bot.server.registration import WEBHOOK
from bot.settings.server import ServerSettings
from bot.store.tables import Store
from bot.worker.dispatch.worker_process import WorkerProcess, locked, opened

HTTP_DRAIN = 1
"""Seconds that open requests have to finish when the server stops."""
ACCEPTS = 16
"""Connections that are accepted in one round of the event loop."""
logger = logging.getLogger(__name__)
_LAST_REQUESTS = 0.5
"""Seconds in which a browser asks for the style sheet of the page that it just received."""
_QUICK = 0.5
"""Seconds in which a database normally responds."""


class ExternalWorkers:
    """Workers in other processes: the database notifies them and stores their heartbeats."""

    fault = ""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def not_ready(self) -> str:
        """Return why jobs are not processed; empty if they are."""
        faults = await self._store.leases.alive()
        return faults[0] if faults else "no worker sends heartbeats"

    async def start(self) -> None:
        """Do nothing: the workers run elsewhere."""

    def wake(self) -> None:
        """Do nothing: the database notifies the workers."""

    async def stop(self) -> None:
        """Do nothing: the workers continue."""


class _Server(uvicorn.Server):
    """Log the listening address, and exit with 0 when stopped."""

    def __init__(self, config: uvicorn.Config, done: asyncio.Event | None = None) -> None:
        super().__init__(config)
        self._done = done

    async def on_tick(self, counter: int) -> bool:
        """Return whether to stop."""
        return await super().on_tick(counter) or (self._done is not None and self._done.is_set())

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop; a server that another one succeeds first answers what its last page makes the browser ask for."""
        if self._done is not None and self._done.is_set():
            # New connections wait in the listener for the successor. One that was accepted here a moment ago may not
            # have sent its request yet, and a browser does not ask again when it is closed.
            for listener in [*self.servers, *(sockets or ())]:
                listener.close()
            await asyncio.sleep(_LAST_REQUESTS)
        await super().shutdown(sockets)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then log the listening address."""
        await super().startup(sockets)
        for host, port in {item.getsockname()[:2] for item in sockets or ()}:
            logger.info("listening on %s port %s", host, port, extra={"action": "listening"})

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop on SIGTERM and Ctrl-C with status 0: uvicorn's own method raises the signal again afterwards."""
        loop = asyncio.get_running_loop()
        for name in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(name, self.handle_exit, name, None)
        yield


def serve(settings: ServerSettings, listener: socket.socket, *, concurrency: int | None) -> None:
    """Serve until the process is stopped; then give running jobs five seconds to finish.

    ``concurrency`` is the number of issues processed at the same time; with None, ``triage worker`` processes the
    stored jobs.

    Raises:
        UserError: no job can be processed with these settings, or another server uses the data directory.
    """
    with contextlib.ExitStack() as stack:
        lock = locked(settings.data_dir, stack) if concurrency is not None else None
        store = _open_store(settings, listener)
        if store is None:
            return
        stack.callback(lambda: asyncio.run(store.aclose()))
        worker: WorkerProcess | ExternalWorkers = ExternalWorkers(store)
        if lock and concurrency:
            give_up, shared = partial(signal.raise_signal, signal.SIGTERM), settings.settings.database_url is not None
            worker = WorkerProcess(store.jobs, lock.descriptor, give_up, concurrency=concurrency, shared=shared)
        # libuv accepts one connection of a listener in each round of the event loop. Hundreds of half-open connections
        # would keep a delivery waiting for as many rounds.
        listeners = [listener, *(stack.enter_context(listener.dup()) for _ in range(ACCEPTS - 1))]
        _Server(server_config(build_app(settings, store, worker))).run(listeners)
    if worker.fault:
        raise UserError(worker.fault)


def _open_store(settings: ServerSettings, listener: socket.socket) -> Store | None:
    """Open the store, and answer 503 while that takes a while; None if the process was stopped before."""
    store, done = Future[Store](), asyncio.Event()

    def open_it() -> None:
        try:
            store.set_result(opened(settings, tidy=False))  # the worker tidies it
        except UserError as error:
            store.set_exception(error)
        finally:
            done.set()

    # A daemon, because a database that does not respond must not keep a stopped process.
    thread = threading.Thread(target=open_it, daemon=True)
    thread.start()
    thread.join(_QUICK)
    if thread.is_alive():
        serve_until(_not_open, listener.dup(), done)
    return store.result() if store.done() else None


async def _not_open(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer that the store is not open yet. GitHub counts a delivery as failed, and it is asked for again."""
    problem = {"ready": False, "faults": ["the database does not respond yet"]}
    await JSONResponse(problem, 503, {"Retry-After": "3"})(scope, receive, send)


def serve_until(app: ASGIApp, listener: socket.socket, done: asyncio.Event) -> None:
    """Serve until ``done`` is set or the process is stopped; open requests are finished."""
    _Server(server_config(app, lifespan="off"), done).run([listener])


def server_config(
    app: ASGIApp, *, lifespan: Literal["on", "off"] = "on", connections: Connections | None = None
) -> uvicorn.Config:
    """Return uvicorn's configuration for an application, with limits on connections."""
    if connections is None:
        connections = Connections(connection_limit())
    return uvicorn.Config(
        app,
        http=limited_protocol(connections, WEBHOOK),
        lifespan=lifespan,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # any client can send these headers
        ws="none",
        timeout_graceful_shutdown=HTTP_DRAIN,
    )


def listening(host: str, port: int) -> socket.socket:
    """Return a listening socket; UserError if the address is in use, or is not one of this machine."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        return socket.create_server(address[:2], family=family, backlog=2_048)
    except OSError as error:
        raise UserError(f"cannot listen on {host} port {port}: {error.strerror}; set HOST or PORT") from error
