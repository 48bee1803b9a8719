"""An attempt whose run another attempt ended meanwhile ends quietly and writes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple

from bot.errors import JobTakenOverError
from bot.jobs import Triage
from bot.store.jobs.deliveries import Arrival
from nodes.run import ThreadDeletedError
from nodes.state.checkpoints import SqliteCheckpoints
from tests.limits.test_admission import staged
from tests.serve.conftest import BODY, TITLE
from tests.servers.github_server import GitHubServer, serve_github

LAST_READ = 3
"""Reads of the thread's checkpoint in a new run by rules; the last one follows the run."""


@pytest.fixture
def github() -> Iterator[GitHubServer]:
    with serve_github() as server:
        yield server


@pytest.mark.parametrize(("settled", "error"), [(True, JobTakenOverError), (False, ThreadDeletedError)])
async def test_a_run_that_another_attempt_ended_is_not_published(
    github: GitHubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settled: bool, error: type[Exception]
) -> None:
    read, reads = SqliteCheckpoints.aget_tuple, 0
    async with staged(github, tmp_path) as stage:
        number = github.world.open_issue(stage.repo, TITLE, BODY, "rita")["number"]
        work = Triage(ref=stage.ref(number), why="opened")
        await stage.worker.store.inbox.accept(Arrival("opened", "issues", b"{}", (work,)))
        job = await stage.worker.store.jobs.claim("run", "us")
        assert job is not None

        async def ended_meanwhile(saver: SqliteCheckpoints, config: RunnableConfig) -> CheckpointTuple | None:
            nonlocal reads
            reads += 1
            if reads == LAST_READ:
                if settled:
                    await stage.worker.store.jobs.settle(job)
                await saver.adelete_thread(config["configurable"]["thread_id"])
            return await read(saver, config)

        monkeypatch.setattr(SqliteCheckpoints, "aget_tuple", ended_meanwhile)
        with pytest.raises(error):
            await stage.worker.work(job)
    assert reads == LAST_READ
    assert github.world.reports(stage.repo, number) == []
