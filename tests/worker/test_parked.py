"""Parked jobs are queued again without the event that reports it, on both databases."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass

import pytest

from bot.github.app import GitHub
from bot.jobs import Triage
from bot.ports import IssueRef
from bot.store.jobs.deliveries import Arrival
from bot.store.tables import Store
from bot.worker import upkeep
from bot.worker.upkeep import unpark_active
from tests.servers.github_server import Fault, GitHubServer, private_key, serve_github
from tests.servers.github_world import APP_ID, INSTALLATION, Repo


@dataclass
class Stage:
    server: GitHubServer
    github: GitHub
    store: Store

    async def parked(self, repo: Repo, installation: int = INSTALLATION) -> None:
        """Store a job that was parked because its installation was suspended."""
        ref = IssueRef("127.0.0.1", installation, repo.id, repo.owner, repo.name, 1)
        await self.store.installations.note("127.0.0.1", installation, "octo", "suspended")
        await self.store.installations.add([ref.repository])
        await self.store.inbox.accept(Arrival(ref.key, "issues", b"{}", (Triage(ref=ref, why="opened"),)))
        job = await self.store.jobs.claim("run", "us")
        assert job is not None
        await self.store.jobs.park(job, "the installation is suspended")

    async def revived(self) -> int:
        return await unpark_active(self.store, self.github)


@pytest.fixture
def server() -> Iterator[GitHubServer]:
    with serve_github() as running:
        yield running


@pytest.fixture
async def stage(server: GitHubServer, store: Store) -> AsyncIterator[Stage]:
    github = GitHub(
        app_id=str(APP_ID), private_key=private_key(), writes=store.writes, api_url=server.url, server_url=server.url
    )
    yield Stage(server, github, store)
    await github.aclose()


async def test_a_parked_job_is_queued_once_its_installation_is_active(stage: Stage) -> None:
    repo = stage.server.world.repository("octo/parser")
    stage.server.world.suspended = True
    await stage.parked(repo)
    assert await stage.revived() == 0
    assert await stage.store.jobs.claim("run", "us") is None
    stage.server.world.suspended = False
    assert await stage.revived() == 1
    job = await stage.store.jobs.claim("run", "us")
    assert job is not None
    known = await stage.store.installations.repository(job.work.key.partition("#")[0])
    assert known is not None
    assert known.installation == "active"
    assert await stage.revived() == 0


async def test_a_job_of_a_reinstalled_app_gets_the_new_installation(stage: Stage) -> None:
    repo = stage.server.world.repository("octo/parser")
    await stage.parked(repo, INSTALLATION + 77)
    assert await stage.revived() == 1
    known = await stage.store.installations.repository(f"127.0.0.1/{repo.id}")
    assert known is not None
    assert known.installation_id == repo.installation


async def test_without_an_installation_a_job_stays_parked(stage: Stage) -> None:
    repo = stage.server.world.repository("octo/parser")
    await stage.parked(repo, INSTALLATION + 77)
    del stage.server.world.repos[repo.id]
    assert await stage.revived() == 0
    assert len(await stage.store.pages.queue.listing("parked", None)) == 1


async def test_a_failed_query_of_an_installation_is_repeated_in_the_next_round(stage: Stage) -> None:
    await stage.parked(stage.server.world.repository("octo/parser"))
    stage.server.fault = lambda call: Fault(status=502) if "/app/installations" in call.path else None
    assert await stage.revived() == 0
    stage.server.fault = lambda _call: None
    assert await stage.revived() == 1


async def test_an_installation_is_queried_once_per_round(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    for n in range(3):
        await stage.parked(stage.server.world.repository(f"octo/r{n}"))
    assert await stage.revived() == 3
    assert len(stage.server.asked("GET", "/app/installations")) == 1
    monkeypatch.setattr(upkeep, "MAX_PARKED", 0)
    assert await stage.revived() == 0
