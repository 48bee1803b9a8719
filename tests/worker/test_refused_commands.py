"""A command whose run does nothing is answered with the reason."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bot.jobs import Triage
from bot.store.jobs.deliveries import Arrival
from bot.worker.dispatch.attempts import Attempts
from bot.worker.dispatch.health import Outage
from tests.limits.test_admission import staged
from tests.servers.github_server import GitHubServer, serve_github
from tests.servers.github_world import person

ONE_A_DAY = {"triage_limits_repository": "issues=1"}


@pytest.fixture
def github() -> Iterator[GitHubServer]:
    with serve_github() as server:
        yield server


@pytest.mark.parametrize(
    ("settings", "stopped", "change", "says"),
    [
        pytest.param(ONE_A_DAY, False, {}, "Not now:", id="the-limit-waits"),
        pytest.param({}, True, {}, "Triage is stopped for this issue", id="stopped"),
        pytest.param({}, False, {"state": "closed"}, "Nothing was done:", id="closed"),
    ],
)
async def test_a_command_whose_run_does_nothing_gets_the_reason(
    github: GitHubServer, tmp_path: Path, settings: dict[str, str], stopped: bool, change: dict[str, Any], says: str
) -> None:
    async with staged(github, tmp_path, **settings) as stage:
        number = await stage.opened()
        ref, store = stage.ref(number), stage.worker.store
        comment = github.world.comment(stage.repo, number, "/triage", "mona")
        if stopped:
            await store.for_issue(ref).row.mute()
        stage.repo.issues[number] |= change
        work = Triage(ref=ref, why="command", asked_in=comment["id"], by=person("mona")["id"])
        await store.inbox.accept(Arrival("command", "issue_comment", b"{}", (work,)))
        attempts = Attempts(stage.worker.store.jobs, stage.worker.work, Outage())
        while (job := await stage.worker.store.jobs.claim("run", "us")) is not None:
            await attempts.make(job)
        assert says in github.world.ours(stage.repo, number)[-1]
        assert len(github.world.reports(stage.repo, number)) == 1
