"""A job whose attempts timed out because of the code is done without the code."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bot.jobs import Triage
from bot.store.jobs.deliveries import Arrival
from tests.limits.test_admission import staged
from tests.serve.conftest import BODY, TITLE
from tests.servers.github_server import GitHubServer, serve_github


@pytest.fixture
def github() -> Iterator[GitHubServer]:
    with serve_github() as server:
        yield server


@pytest.mark.parametrize(("late", "searched"), [(1, True), (2, False)])
async def test_after_two_late_attempts_an_issue_is_reported_on_without_the_code(
    github: GitHubServer, tmp_path: Path, late: int, searched: bool
) -> None:
    async with staged(github, tmp_path) as stage:
        number = github.world.open_issue(stage.repo, TITLE, BODY, "rita")["number"]
        work = Triage(ref=stage.ref(number), why="opened")
        await stage.worker.store.inbox.accept(Arrival("opened", "issues", b"{}", (work,)))
        job = await stage.worker.store.jobs.claim("run", "us")
        assert job is not None
        await stage.worker.work(replace(job, late=late))
    assert ("nothing was searched" not in stage.reported(number)) is searched
    assert ("feedbox/" in stage.reported(number) and "/blob/" in stage.reported(number)) is searched
