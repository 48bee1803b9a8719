"""The web application on a real port in the test's process, without a worker."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import uvicorn
from starlette.types import ASGIApp

from bot.server.connections.registry import Connections
from bot.server.process import server_config


@dataclass
class NobodyWorks:
    fault: str = ""
    woken: list[None] = field(default_factory=list)

    async def start(self) -> None:
        """Nothing to start."""

    def wake(self) -> None:
        self.woken.append(None)

    async def not_ready(self) -> str:
        return self.fault

    async def stop(self) -> None:
        """Nothing to stop."""


@asynccontextmanager
async def serving(app: ASGIApp, *, connections: Connections | None = None) -> AsyncIterator[str]:
    """Serve the application during a test, with the server's own limits; yield its address."""
    config = server_config(app, connections=connections)
    config.host, config.port = "127.0.0.1", 0
    server = uvicorn.Server(config)
    task = asyncio.create_task(server._serve())
    while not server.started:
        await asyncio.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        await task
