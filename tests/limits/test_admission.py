"""Which issues are triaged under limits per author and per day, with the whole worker."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bot.jobs import Triage
from bot.ports import IssueRef
from bot.settings.environment import Settings
from bot.settings.server import ServerSettings
from bot.store.jobs.deliveries import Arrival
from bot.worker.dispatch.attempts import Attempts
from bot.worker.dispatch.health import Outage
from bot.worker.worker import Worker, open_worker
from tests.serve.conftest import BODY, FILES, TITLE
from tests.servers.github_server import GitHubServer, private_key, serve_github
from tests.servers.github_world import APP_ID, INSTALLATION, Repo
from tests.support.repositories import make_repository


@pytest.fixture
def github() -> Iterator[GitHubServer]:
    with serve_github() as server:
        yield server


@dataclass
class Stage:
    github: GitHubServer
    repo: Repo
    worker: Worker

    async def opened(self, author: str = "rita", title: str = TITLE, body: str = BODY) -> int:
        """Open an issue and process all due jobs."""
        number: int = self.github.world.open_issue(self.repo, title, body, author)["number"]
        await self.triage(number, "opened")
        return number

    def ref(self, number: int) -> IssueRef:
        host = self.github.url.partition("//")[2]
        url = f"{self.github.url}/octo/feedbox.git"
        return IssueRef(host, INSTALLATION, self.repo.id, "octo", "feedbox", number, url)

    async def triage(self, number: int, why: str, by: int | None = None) -> None:
        work = Triage.model_validate({"ref": self.ref(number), "why": why, "by": by})
        await self.worker.store.inbox.accept(Arrival(f"{why}-{number}", "issues", b"{}", (work,)))
        attempts = Attempts(self.worker.store.jobs, self.worker.work, Outage())
        while (job := await self.worker.store.jobs.claim("run", "us")) is not None:
            await attempts.make(job)

    def reported(self, number: int) -> str:
        return "".join(self.github.world.reports(self.repo, number))


@asynccontextmanager
async def staged(github: GitHubServer, folder: Path, **settings: Any) -> AsyncIterator[Stage]:
    origin = folder / "origin"
    repo = github.world.repository("octo/feedbox", git=origin, head=make_repository(origin, FILES))
    repo.permissions["mona"] = "triage"
    given = Settings(
        github_api_url=github.url, github_server_url=github.url, triage_data_dir=folder / "data", **settings
    )
    async with open_worker(ServerSettings(given, APP_ID, private_key(), (b"secret",))) as worker:
        yield Stage(github, repo, worker)


@pytest.mark.tried("floods of issues and commands by one account")
async def test_a_flood_of_one_author_limits_only_that_author(github: GitHubServer, tmp_path: Path) -> None:
    async with staged(github, tmp_path, triage_limits_author="hour=2") as stage:
        looked_at = Counter(dict.fromkeys(("rita", "tom", "mona"), 0))
        for author in ("rita", "rita", "rita", "rita", "tom", "mona", "mona", "mona"):
            looked_at[author] += bool(stage.reported(await stage.opened(author)))
        assert looked_at == {"rita": 2, "tom": 1, "mona": 3}
        refused = [n for n in stage.repo.issues if "limits reached here today" in stage.reported(n)]
        assert refused == [5]
        assert "issues for one author" in stage.reported(5)
        await stage.triage(4, "command", by=1)  # a maintainer's command
        assert stage.reported(4)


@pytest.mark.tried("floods of issues and commands by one account")
async def test_issues_over_the_daily_limit_wait(github: GitHubServer, tmp_path: Path) -> None:
    async with staged(github, tmp_path, triage_limits_repository="issues=1") as stage:
        first, second = await stage.opened(), await stage.opened()
        assert (bool(stage.reported(first)), bool(stage.reported(second))) == (True, False)
        assert await stage.worker.store.jobs.has_unfinished(stage.ref(second).key)


@pytest.mark.parametrize(
    ("settings", "replied"),
    [
        pytest.param({"triage_limits_run": "questions=0"}, [False, False], id="of-a-run"),
        pytest.param({"triage_limits_installation": "questions=1"}, [True, False], id="of-an-account"),
        pytest.param({}, [True, True], id="no-limit"),
    ],
)
async def test_questions_have_budgets(
    github: GitHubServer, tmp_path: Path, settings: dict[str, str], replied: list[bool]
) -> None:
    async with staged(github, tmp_path, **settings) as stage:
        numbers = [await stage.opened(title="It breaks", body="") for _ in range(2)]
        assert ["> - [ ] **Q1**" in stage.reported(number) for number in numbers] == replied


async def test_without_remaining_questions_a_report_is_written_without_asking(
    github: GitHubServer, tmp_path: Path
) -> None:
    async with staged(github, tmp_path, triage_limits_repository="questions=1") as stage:
        by_command, on_opening = [await stage.opened(title="It breaks", body="") for _ in range(2)]
        assert "> - [ ] **Q1**" in stage.reported(by_command)
        assert stage.reported(on_opening)
        assert "> - [ ] **Q1**" not in stage.reported(on_opening)
