"""A receiver on a real port with a real store; nobody works on what it stores."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest
import uvicorn

from bot.app import build_app
from bot.server_settings import ServerSettings
from bot.settings import Settings
from bot.store.sqlite import SqliteStore
from tests.deliveries import SECRET

OLD_SECRET = "the one before"


@dataclass
class NobodyWorks:
    ready: bool = True
    woken: list[None] = field(default_factory=list)

    async def start(self) -> None:
        """Nothing to start."""

    def wake(self) -> None:
        self.woken.append(None)

    async def stop(self) -> None:
        """Nothing to stop."""


@dataclass
class Receiver:
    http: httpx.AsyncClient
    store: SqliteStore
    work: NobodyWorks


@pytest.fixture
async def receiver(tmp_path: Path) -> AsyncIterator[Receiver]:
    store, work = SqliteStore(tmp_path / "store.db"), NobodyWorks()
    settings = ServerSettings(Settings(), 4711, "", (SECRET.encode(), OLD_SECRET.encode()))
    config = uvicorn.Config(build_app(settings, store, work), host="127.0.0.1", port=0, log_config=None)
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server._serve())
    while not server.started:
        await asyncio.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=30) as http:
        yield Receiver(http, store, work)
    server.should_exit = True
    await serving
    await store.aclose()
