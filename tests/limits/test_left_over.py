"""Postponed labels delay neither their report's run nor a redirect. Simulated clock."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bot.jobs import Commands, Triage
from bot.limits.writes import LABELS, PER_HOUR, installation_key
from bot.ports import Comment, IssueRef
from bot.store.databases.sqlite_file import SqliteDatabase
from bot.store.jobs.deliveries import Arrival
from tests.limits.day import Day
from tests.limits.test_admission import Stage, staged
from tests.serve.conftest import BODY, TITLE
from tests.servers.github_server import Fault, serve_github
from tests.servers.github_world import INSTALLATION, person

USED = int(PER_HOUR * LABELS.hour)


@asynccontextmanager
async def busy_hour(folder: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[tuple[Stage, Day]]:
    """Fill the write limit of the last minutes, so that no label can be written."""
    day = Day()
    monkeypatch.setattr(SqliteDatabase, "clock", lambda _self: day.now())
    with serve_github() as github:
        async with staged(github, folder) as stage:
            stage.repo.labels.add("bug")
            key, statement = (
                installation_key(stage.ref(1).host, INSTALLATION),
                "INSERT INTO writes (installation, at) VALUES (?, ?)",
            )
            rows = [(key, day.now() - 120 - n) for n in range(USED)]
            await stage.worker.store._database.do(lambda db: db.executemany(statement, rows).rowcount)
            yield stage, day


async def live(stage: Stage, day: Day) -> None:
    await asyncio.wait_for(day.live(stage.worker, Counter(), asyncio.Event()), 100)


async def opened(stage: Stage) -> IssueRef:
    ref = stage.ref(stage.github.world.open_issue(stage.repo, TITLE, BODY, "rita")["number"])
    await stage.worker.store.inbox.accept(Arrival("opened", "issues", b"{}", (Triage(ref=ref, why="opened"),)))
    return ref


async def command(stage: Stage, ref: IssueRef, body: str) -> None:
    made, sender = stage.github.world.comment(stage.repo, ref.number, body, "mona"), person("mona")
    times = {"created_at": made["created_at"], "updated_at": made["updated_at"]}
    comment = Comment(made["id"], sender["id"], "mona", author_is_bot=False, body=body, url=made["html_url"], **times)
    work = Commands(ref=ref, comment=comment, sender="mona", sender_id=sender["id"])
    await stage.worker.store.inbox.accept(Arrival(f"c{made['id']}", "issue_comment", b"{}", (work,)))


def labels(stage: Stage) -> set[str]:
    return {label["name"] for label in stage.repo.issues[1]["labels"]}


async def test_a_run_ends_with_its_report_and_labels_follow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with busy_hour(tmp_path, monkeypatch) as (stage, day):
        ref = await opened(stage)
        await stage.triage(ref.number, "backfill")
        run = await stage.worker.store.for_issue(ref).runs.last()
        assert run is not None
        assert (run.status, bool(stage.reported(1)), labels(stage)) == ("finished", True, set())
        assert day.jumped < 60
        await live(stage, day)
        assert labels(stage) == {"bug"}
        assert day.jumped < 2 * 3_600


async def test_a_redirect_does_not_wait_for_a_label(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with busy_hour(tmp_path, monkeypatch) as (stage, day):
        ref = await opened(stage)
        await stage.triage(ref.number, "backfill")
        await command(stage, ref, "/triage redirect look at store.save")
        job = await stage.worker.store.jobs.claim("control", "us")
        assert job is not None
        await stage.worker.work(job)
        await stage.triage(ref.number, "backfill")
        run = await stage.worker.store.for_issue(ref).runs.last()
        assert run is not None
        assert (run.number, run.status) == (2, "finished")
        assert day.jumped < 60
        await live(stage, day)
        assert labels(stage) == {"bug"}


async def test_labels_are_dropped_after_a_stop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with busy_hour(tmp_path, monkeypatch) as (stage, day):
        ref = await opened(stage)
        await stage.triage(ref.number, "backfill")
        await command(stage, ref, "/triage stop")
        await live(stage, day)
        assert labels(stage) == set()
        assert day.jumped < 3 * 3_600


async def test_pending_effects_delay_no_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with busy_hour(tmp_path, monkeypatch) as (stage, day):
        ref = await opened(stage)
        await stage.triage(ref.number, "backfill")
        day.ahead += 120.0
        stage.github.fault = lambda call: Fault(status=502)
        tried = []
        while (left := await stage.worker.store.jobs.claim("control", "us")) is not None:
            tried.append(left.work.kind)
            if left.work.kind == "left_over":
                await stage.worker.work(left)
            else:
                await stage.worker.store.jobs.settle(left)
        assert "left_over" in tried
        stage.github.fault = lambda _call: None
        await command(stage, ref, "/triage stop")
        job = await stage.worker.store.jobs.claim("control", "us")
        assert job is not None
        assert job.work.kind == "commands"
