"""The pages on a real port with a real store."""

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
from tests.servers.github_pages import CLIENT_ID, CLIENT_SECRET
from tests.servers.github_server import GitHubServer
from tests.servers.serving import NobodyWorks, serving
from tests.support.patience import patience

TOKEN = "an-operators-own-token"
PAGE = {"Accept": "text/html"}
FROM_HERE = {"Sec-Fetch-Site": "same-origin"}


@dataclass
class Pages:
    """An HTTP client of the pages."""

    http: httpx.AsyncClient
    store: SqliteStore
    url: str

    async def log_in(self, token: str = TOKEN, **fields: str) -> httpx.Response:
        """Log in as the operator."""
        return await self.http.post("/login", data={"token": token, **fields}, headers=FROM_HERE)


def logins_at(github: GitHubServer) -> dict[str, str]:
    """Return the settings for the login with an account of the simulated GitHub."""
    return {
        "github_client_id": CLIENT_ID,
        "github_client_secret": CLIENT_SECRET,
        "github_server_url": github.url,
        "github_api_url": github.url,
    }


@pytest.fixture
def given() -> dict[str, str]:
    """Return settings that a test module overrides."""
    return {}


@pytest.fixture
async def pages(tmp_path: Path, given: dict[str, str]) -> AsyncIterator[Pages]:
    settings = Settings(**{"triage_admin_token": TOKEN, "triage_data_dir": tmp_path, **given})  # type: ignore[arg-type]
    store = SqliteStore(tmp_path / "store.db")
    app = build_app(ServerSettings(settings, 4711, "", (b"secret",)), store, NobodyWorks())
    async with serving(app) as url, httpx.AsyncClient(base_url=url, timeout=patience(30), headers=PAGE) as http:
        yield Pages(http, store, url)
    await store.aclose()
