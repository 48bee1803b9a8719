"""Issues without a delivery are found once, and only those opened after the App's installation."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from bot.github.app import GitHub
from bot.jobs import Triage
from bot.ports import IssueRef, RepositoryRef
from bot.store.databases.sqlite import SqliteStore
from bot.store.jobs.deliveries import Arrival
from bot.worker import upkeep
from bot.worker.upkeep import find_missed
from tests.servers.github_server import Fault, GitHubServer, private_key, serve_github
from tests.servers.github_world import APP_ID, INSTALLATION, Repo


@dataclass
class Stage:
    server: GitHubServer
    github: GitHub
    store: SqliteStore
    repo: Repo

    @property
    def ref(self) -> RepositoryRef:
        return RepositoryRef("127.0.0.1", INSTALLATION, self.repo.id, self.repo.owner, self.repo.name)

    def issue(self, number: int) -> IssueRef:
        return IssueRef("127.0.0.1", INSTALLATION, self.repo.id, self.repo.owner, self.repo.name, number)

    def opened(self, ago: float = 0.0) -> int:
        """Open an issue without a delivery."""
        number: int = self.server.world.open_issue(self.repo)["number"]
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - ago))
        self.repo.issues[number] |= {"created_at": at, "updated_at": at}
        return number

    async def look(self) -> int:
        return await find_missed(self.store, self.github.for_repository)

    async def queued(self) -> list[int]:
        found = []
        while (job := await self.store.jobs.claim("run", "us")) is not None:
            assert isinstance(job.work, Triage)
            found.append(job.work.ref.number)
        return found


@pytest.fixture
def server() -> Iterator[GitHubServer]:
    with serve_github() as running:
        yield running


@pytest.fixture
async def stage(server: GitHubServer, tmp_path: Path) -> AsyncIterator[Stage]:
    store = SqliteStore(tmp_path / "store.db")
    github = GitHub(
        app_id=str(APP_ID), private_key=private_key(), writes=store.writes, api_url=server.url, server_url=server.url
    )
    stage = Stage(server, github, store, server.world.repository("octo/parser", head="a" * 40))
    await store.installations.add([stage.ref])
    yield stage
    await github.aclose()
    await store.aclose()


async def test_only_issues_missed_after_the_installation_are_found_newest_first(stage: Stage) -> None:
    stage.opened(ago=9_000)
    assert await stage.look() == 0
    older, newer = stage.opened(), stage.opened()
    assert await stage.look() == 2
    assert await stage.queued() == [newer, older]
    assert await stage.look() == 0


async def test_known_issues_are_not_queued_again(stage: Stage) -> None:
    await stage.look()
    waits, had, new = (stage.opened() for _ in range(3))
    await stage.store.inbox.accept(Arrival("a", "issues", b"{}", (Triage(ref=stage.issue(waits), why="opened"),)))
    await stage.store.for_issue(stage.issue(had)).runs.restore("finished", "")
    assert await stage.look() == 1
    assert await stage.queued() == [waits, new]


async def test_an_issue_whose_run_has_no_job_is_queued_again(stage: Stage) -> None:
    """A failover lost the delivery and the job, and the worker of the lost job wrote its run afterwards."""
    await stage.look()
    number = stage.opened()
    await stage.store.for_issue(stage.issue(number)).runs.begin(())
    assert await stage.look() == 1
    assert await stage.queued() == [number]


async def test_a_failed_request_is_repeated_in_a_later_round(stage: Stage, server: GitHubServer) -> None:
    await stage.look()
    number = stage.opened()
    server.fail("GET", "/issues", *[Fault(status=403, headers={"Retry-After": "0"}, message="secondary rate limit")])
    assert await stage.look() == 0
    server.fault = lambda _call: None
    assert await stage.look() == 1
    assert await stage.queued() == [number]


async def test_a_round_is_bounded_and_the_next_one_continues(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upkeep, "MAX_ISSUES", 2)
    await stage.look()
    numbers = [stage.opened() for _ in range(3)]
    assert await stage.look() == 2
    assert await stage.queued() == [numbers[2], numbers[1]]
    assert await stage.look() == 1


@pytest.mark.parametrize("what", ["removed", "archived", "suspended"])
async def test_removed_archived_and_suspended_repositories_are_not_searched(
    stage: Stage, server: GitHubServer, what: str
) -> None:
    await stage.look()
    known = stage.store.installations
    if what == "removed":
        await known.remove([stage.ref.key])
    elif what == "archived":
        await known.archive(stage.ref.key, archived=True, private=False)
    else:
        await known.note("127.0.0.1", INSTALLATION, "octo", "suspended")
    stage.opened()
    server.calls.clear()
    assert await stage.look() == 0
    assert server.calls == []
