"""The API with a real store and without a worker."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import SecretStr
from starlette.applications import Starlette

from bot.ports import RepositoryRef
from bot.server.api.routes import api_routes
from bot.settings.environment import Settings
from bot.store.databases.sqlite import SqliteStore

TOKEN = "a-script-has-this-token"
REPO = RepositoryRef("github.com", 9, 1000, "octo", "feedbox")
ISSUE = {"repository": "octo/feedbox", "issue": 7}


@dataclass
class Api:
    app: Starlette
    store: SqliteStore
    http: httpx.AsyncClient
    woken: list[None] = field(default_factory=list)
    bearer: str = f"Bearer {TOKEN}"

    async def ask(self, body: Any = ISSUE, key: str | None = None, **headers: str) -> httpx.Response:
        given = {"Authorization": f"Bearer {TOKEN}", **({"Idempotency-Key": key} if key else {}), **headers}
        return await self.http.post("/api/v1/runs", json=body, headers=given)

    async def get(self, path: str) -> httpx.Response:
        return await self.http.get(path, headers={"Authorization": f"Bearer {TOKEN}"})


@pytest.fixture
async def api(tmp_path: Path) -> AsyncIterator[Api]:
    store = SqliteStore(tmp_path / "store.db")
    await store.installations.add([REPO])
    woken: list[None] = []
    settings = Settings(triage_api_token=SecretStr(TOKEN))
    app = Starlette(routes=[api_routes(settings, store, lambda: woken.append(None))])
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://here") as http:
        yield Api(app, store, http, woken)
    await store.aclose()
