"""A simulated GitHub, and the client logged in to it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from bot.github.app import GitHub
from bot.store.writes import StoredWrites
from tests.servers.github_server import GitHubServer, private_key, serve_github
from tests.servers.github_world import APP_ID

TIMEOUT = 1.0
"""Seconds; short, so that tests of silence are fast."""


@pytest.fixture
def server() -> Iterator[GitHubServer]:
    with serve_github() as running:
        yield running


@pytest.fixture
async def github(server: GitHubServer, writes: StoredWrites) -> AsyncIterator[GitHub]:
    client = GitHub(
        app_id=str(APP_ID),
        private_key=private_key(),
        writes=writes,
        api_url=server.url,
        server_url=server.url,
        timeout=TIMEOUT,
    )
    yield client
    await client.aclose()
