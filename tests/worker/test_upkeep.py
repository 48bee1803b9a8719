"""Periodic maintenance: once for all processes, and on each machine's disk."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from bot.jobs import Triage
from bot.ports import IssueRef
from bot.settings.environment import Settings
from bot.settings.server import ServerSettings
from bot.store.jobs.deliveries import Arrival
from bot.worker import upkeep
from bot.worker.tools import Tools, open_tools
from bot.worker.upkeep import prune, remove_unused_mirrors
from nodes.evidence import Evidence
from nodes.graph import build_graph
from nodes.run import advance, initial_state
from nodes.state import Waiting
from tests.servers.github_server import private_key, serve_github
from tests.servers.github_world import APP_ID
from tests.support.fakes import SHA, ScriptedBrain, context, decide
from tests.support.patience import until

REF = IssueRef("github.com", 7, 9, "octo", "parser", 5)


@asynccontextmanager
async def tools(folder: Path) -> AsyncIterator[Tools]:
    settings = Settings(triage_data_dir=folder, github_api_url="http://127.0.0.1:9")
    async with open_tools(ServerSettings(settings, APP_ID, private_key(), (b"secret",))) as opened:
        yield opened


async def test_only_one_of_several_starting_processes_runs_upkeep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rounds: list[Tools] = []

    async def run_upkeep_round(given: Tools) -> None:
        rounds.append(given)

    monkeypatch.setattr(upkeep, "run_upkeep_round", run_upkeep_round)
    monkeypatch.setattr(upkeep, "CHECK_EVERY", 0.01)
    async with tools(tmp_path) as one, tools(tmp_path) as other:
        for _ in range(2):
            keeping = [asyncio.create_task(upkeep.run_upkeep(given)) for given in (one, other)]
            await until(lambda: bool(rounds))
            await asyncio.sleep(0.2)
            for task in keeping:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
    assert len(rounds) == 1


async def test_a_round_queues_dead_and_parked_jobs_again(tmp_path: Path) -> None:
    with serve_github() as github:
        settings = Settings(triage_data_dir=tmp_path, github_api_url=github.url, github_server_url=github.url)
        async with open_tools(ServerSettings(settings, APP_ID, private_key(), (b"secret",))) as given:
            jobs, database = given.store.jobs, given.store._database
            for name in ("octo/dead", "octo/parked"):
                repo = github.world.repository(name)
                ref = IssueRef("127.0.0.1", repo.installation, repo.id, repo.owner, repo.name, 1)
                await given.store.installations.add([ref.repository])
                await given.store.inbox.accept(Arrival(name, "issues", b"{}", (Triage(ref=ref, why="opened"),)))
                job = await jobs.claim("run", "us")
                assert job is not None
                await (jobs.mark_dead(job, "no answer", death="transient") if "dead" in name else jobs.park(job, "off"))
            long_ago = "UPDATE jobs SET due = 0 WHERE state = 'dead'"
            await database.do(lambda db: db.execute(long_ago).rowcount)
            assert await jobs.counts() == {"dead": 1, "parked": 1}
            await upkeep.run_upkeep_round(given)
            assert await jobs.counts() == {"todo": 2}


async def test_each_process_corrects_due_times_that_a_wrong_clock_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "CHECK_EVERY", 0.01)
    async with tools(tmp_path) as given:
        await given.store.leases.take("upkeep", 3_600.0)
        keeping = asyncio.create_task(upkeep.run_upkeep(given))
        await given.store.inbox.accept(Arrival("one", "issues", b"{}", (Triage(ref=REF, why="opened"),)))
        ahead = "UPDATE jobs SET due = due + 1e7, stored_at = stored_at + 1e7"
        await given.store._database.do(lambda db: db.execute(ahead).rowcount)
        async with asyncio.timeout(30):
            while await given.store.jobs.claim("run", "us") is None:
                await asyncio.sleep(0.01)
        keeping.cancel()


async def test_a_failing_part_of_upkeep_does_not_stop_the_others(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with tools(tmp_path) as given:
        issue = given.store.for_issue(REF)
        await issue.evidence(1).put([Evidence(kind="code", quote="x = 1")])
        await issue.row.end("closed")
        old = given.store._database.clock() + 100 * 86_400
        given.store.pruning._database.clock = lambda: old  # type: ignore[method-assign]
        await upkeep.run_upkeep_round(given)
        assert await issue.evidence(1).get([Evidence(kind="code", quote="x = 1").key]) == {}
    assert [record.part for record in caplog.records if hasattr(record, "part")] == [
        "caught_up"
    ]  # GitHub is unavailable


async def test_checkpoints_of_finished_runs_are_deleted_and_those_of_waiting_runs_stay(tmp_path: Path) -> None:
    async with tools(tmp_path) as given:
        for number in (5, 6):
            issue = given.store.for_issue(IssueRef("github.com", 7, 9, "octo", "parser", number))
            run = await issue.runs.begin(())
            brain = ScriptedBrain([decide("human_input", question="Which version?")])
            start = initial_state("scan hangs", "open quote", repository="o/r", sha=SHA)
            graph = build_graph(given.checkpoints)
            assert isinstance(await advance(graph, context(brain), issue.thread(run.number), start), Waiting)
        statement = "UPDATE runs SET status = ?, changed_at = ? WHERE issue_key = ?"
        at = given.store.clock() - 120
        for key, status in (("github.com/9#5", "failed"), ("github.com/9#6", "waiting")):
            await given.store._database.do(lambda db, row=(status, at, key): db.execute(statement, row).rowcount)
        await prune(given)
        left = [
            await given.checkpoints.aget_tuple({"configurable": {"thread_id": f"github.com/9#{number}:1"}}) is not None
            for number in (5, 6)
        ]
    assert left == [False, True]


async def test_unused_and_unknown_mirrors_are_deleted(tmp_path: Path) -> None:
    async with tools(tmp_path) as given:
        for number in (9, 10):
            await given.store.installations.add([IssueRef("github.com", 7, number, "o", f"r{number}", 1).repository])
        for name in ("9", "10", "11"):
            (tmp_path / "repos" / name / "mirror").mkdir(parents=True)
        long_ago = given.store.clock() - 40 * 86_400
        os.utime(tmp_path / "repos" / "10", (long_ago, long_ago))
        await remove_unused_mirrors(given)
    assert [folder.name for folder in (tmp_path / "repos").iterdir()] == ["9"]
