"""A simulated GitHub with a repository, a store, and the client."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from bot.github.app import GitHub
from bot.github.repository import RepositoryClient
from bot.ports import RepositoryRef
from bot.store.databases.sqlite import SqliteStore
from bot.store.issues.past_issues import PastIssues
from bot.store.writes import StoredWrites
from tests.servers.github_server import GitHubServer, private_key, serve_github
from tests.servers.github_world import APP_ID, INSTALLATION, Repo


@pytest.fixture
def server() -> Iterator[GitHubServer]:
    with serve_github() as running:
        yield running


@pytest.fixture
def repo(server: GitHubServer) -> Repo:
    return server.world.repository("octo/parser", head="a" * 40)


@pytest.fixture
def ref(repo: Repo) -> RepositoryRef:
    return RepositoryRef("127.0.0.1", INSTALLATION, repo.id, repo.owner, repo.name)


@pytest.fixture
async def client(server: GitHubServer, ref: RepositoryRef, writes: StoredWrites) -> AsyncIterator[RepositoryClient]:
    github = GitHub(
        app_id=str(APP_ID), private_key=private_key(), writes=writes, api_url=server.url, server_url=server.url
    )
    yield github.for_repository(ref)
    await github.aclose()


@pytest.fixture
async def past(tmp_path: Path, ref: RepositoryRef) -> AsyncIterator[PastIssues]:
    store = SqliteStore(tmp_path / "store.db")
    yield store.for_repository(ref).past
    await store.aclose()
