"""A webhook endpoint on a real port with a real store and without a worker."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from bot.server.app import build_app
from bot.settings.environment import Settings
from bot.settings.server import ServerSettings
from bot.store.databases.sqlite import SqliteStore
from tests.servers.deliveries import SECRET
from tests.servers.serving import NobodyWorks, serving
from tests.support.patience import patience

OLD_SECRET = "the one before"
TOKEN = "an-operators-own-token"


@dataclass
class Receiver:
    http: httpx.AsyncClient
    store: SqliteStore
    work: NobodyWorks


@pytest.fixture
async def receiver(tmp_path: Path) -> AsyncIterator[Receiver]:
    store, work = SqliteStore(tmp_path / "store.db"), NobodyWorks()
    given = Settings(triage_admin_token=TOKEN, triage_data_dir=tmp_path)
    settings = ServerSettings(given, 4711, "", (SECRET.encode(), OLD_SECRET.encode()))
    async with (
        serving(build_app(settings, store, work)) as url,
        httpx.AsyncClient(base_url=url, timeout=patience(30)) as http,
    ):
        yield Receiver(http, store, work)
    await store.aclose()
