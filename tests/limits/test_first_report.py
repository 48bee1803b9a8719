"""A report by rules comes first if the model's takes over a minute; the model's then replaces it."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from bot.jobs import Job, Triage
from bot.ports import IssueRef
from bot.report.words import FOLLOWS
from bot.store.databases.sqlite_file import SqliteDatabase
from bot.store.jobs.deliveries import Arrival
from bot.store.runs import usage
from bot.worker.runs import graph
from tests.limits.day import Day, sound
from tests.limits.test_admission import Stage, staged
from tests.serve.conftest import BODY, TITLE
from tests.servers.github_server import RESET, Call, Fault, serve_github
from tests.servers.model_server import Reply, Request, serve

ISSUES = 5
FAST = {"triage_model_calls_per_minute": 6_000}


@dataclass
class Written:
    """The times by the simulated clock at which an issue's comments were posted and edited."""

    day: Day
    posted: dict[str, float] = field(default_factory=dict)
    edits: int = 0

    def __call__(self, call: Call) -> Fault | None:
        issue = re.search(r"/issues/(\d+)/comments$", call.path)
        if call.method == "POST" and issue:
            self.posted.setdefault(issue[1], self.day.jumped)
        self.edits += call.method == "PATCH"
        return None


@asynccontextmanager
async def judged(folder: Path, monkeypatch: pytest.MonkeyPatch, **settings: object) -> AsyncIterator[tuple]:
    day = Day()
    monkeypatch.setattr(SqliteDatabase, "clock", lambda _self: day.now())
    monkeypatch.setattr(usage, "SHORTEST_TO_REFUSE", 0.2)
    with serve_github() as github, serve() as models:
        models.script, github.fault = sound, Written(day)
        async with staged(github, folder, openai_base_url=models.url, **settings) as stage:
            yield stage, day, models, github.fault


async def opened(stage: Stage, number: int = 1) -> IssueRef:
    ref = stage.ref(stage.github.world.open_issue(stage.repo, f"{TITLE}, case {number}", BODY, "rita")["number"])
    await stage.worker.store.inbox.accept(Arrival(ref.key, "issues", b"{}", (Triage(ref=ref, why="opened"),)))
    return ref


async def close_the_model(stage: Stage, seconds: float) -> None:
    """Use up the model's rate limit, as other runs would."""
    await stage.worker._tools.pace.close(seconds)


def report(stage: Stage, number: int = 1) -> str:
    (text,) = stage.github.world.reports(stage.repo, number)
    return text


@pytest.mark.timeout(300)
async def test_five_bugs_at_once_have_a_report_within_a_minute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with judged(tmp_path, monkeypatch) as (stage, day, _, written):
        for number in range(1, ISSUES + 1):
            await opened(stage, number)
        await asyncio.wait_for(day.live(stage.worker, Counter(), asyncio.Event()), 250)
        assert len(written.posted) == ISSUES
        assert max(written.posted.values()) < 90, written.posted
        assert written.edits, "one of them had to wait for its model"
        for number in range(1, ISSUES + 1):
            assert FOLLOWS not in report(stage, number)


async def test_a_crash_between_the_two_reports_leads_to_the_edit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with judged(tmp_path, monkeypatch) as (stage, day, _, written):
        await close_the_model(stage, 180.0)
        ref = await opened(stage)
        job = await stage.worker.store.jobs.claim("run", "us")
        with pytest.raises(graph.ModelBusyError):
            await stage.worker.work(job)
        assert FOLLOWS in report(stage)
        await stage.worker.store.jobs.recover(blame=True)  # the process ended before the job was postponed
        again = await stage.worker.store.jobs.claim("run", "others")
        assert again is not None
        with pytest.raises(graph.ModelBusyError):
            await stage.worker.work(again)
        await stage.worker.store.jobs.postpone(again, 180.0, "later", limited=True)
        assert (written.edits, FOLLOWS in report(stage)) == (0, True)
        await asyncio.wait_for(day.live(stage.worker, Counter(), asyncio.Event()), 60)
        assert (written.edits, FOLLOWS in report(stage)) == (1, False)
        run = await stage.worker.store.for_issue(ref).runs.last()
        assert run is not None
        assert (run.number, run.status) == (1, "finished")


async def test_a_first_report_whose_response_was_lost_is_not_posted_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with judged(tmp_path, monkeypatch) as (stage, day, _, written):
        await close_the_model(stage, 180.0)
        stage.github.fault = lambda _call: None
        stage.github.fail("POST", "/issues/1/comments", replace(RESET, after=True))
        await opened(stage)
        await asyncio.wait_for(day.live(stage.worker, Counter(), asyncio.Event()), 60)
        assert FOLLOWS not in report(stage)
        assert written.edits == 0


async def test_a_slow_model_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph, "FIRST_REPORT_WITHIN", 0.3)

    def slow(request: Request) -> Reply:
        return replace(sound(request), delay=0.6)

    async with judged(tmp_path, monkeypatch, **FAST) as (stage, _, models, written):
        models.script = slow
        await opened(stage)
        job: Job | None = await stage.worker.store.jobs.claim("run", "us")
        assert job is not None
        working = asyncio.create_task(stage.worker.work(job))
        async with asyncio.timeout(60):
            while not stage.github.world.reports(stage.repo, 1):
                await asyncio.sleep(0.02)
        assert FOLLOWS in report(stage)
        await working
        assert (written.edits, FOLLOWS in report(stage)) == (1, False)


async def test_a_model_in_time_posts_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with judged(tmp_path, monkeypatch, **FAST) as (stage, day, _, written):
        await opened(stage)
        await asyncio.wait_for(day.live(stage.worker, Counter(), asyncio.Event()), 60)
        assert FOLLOWS not in report(stage)
        assert written.edits == 0


@pytest.mark.parametrize("text", ["/triage stop", ""])
async def test_a_stop_between_the_two_reports_leaves_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    async with judged(tmp_path, monkeypatch) as (stage, day, _, _written):
        await close_the_model(stage, 180.0)
        ref = await opened(stage)
        job = await stage.worker.store.jobs.claim("run", "us")
        with pytest.raises(graph.ModelBusyError):
            await stage.worker.work(job)
        await stage.worker.store.jobs.postpone(job, 180.0, "later", limited=True)
        if text:
            await stage.worker.store.for_issue(ref).row.mute()
        else:  # a person deletes it
            stage.github.world.comments.clear()
        await asyncio.wait_for(day.live(stage.worker, Counter(), asyncio.Event()), 60)
        assert len(stage.github.world.reports(stage.repo, 1)) == bool(text)
        assert (await stage.worker.store.for_issue(ref).row.state()).muted


async def test_a_first_report_that_github_refuses_does_not_delay_the_models(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def limited(call: Call) -> Fault | None:
        early = call.method == "POST" and call.path.endswith("/comments") and day.jumped < 1_500
        return Fault(status=403, message="You have exceeded a secondary rate limit.") if early else None

    async with judged(tmp_path, monkeypatch) as (stage, day, _, _written):
        await close_the_model(stage, 180.0)
        stage.github.fault = limited
        await opened(stage)
        await asyncio.wait_for(day.live(stage.worker, Counter(), asyncio.Event()), 60)
        assert FOLLOWS not in report(stage)
        assert day.jumped < 6_000
