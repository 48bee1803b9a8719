"""Dead jobs are retried a few times at growing intervals, unless a later job replaces them."""

from __future__ import annotations

import pytest

from bot.jobs import Commands, Edited, Ended, Job, Triage, Work
from bot.ports import Comment, IssueRef
from bot.store.databases.database import Database
from bot.store.jobs.deliveries import Arrival, Inbox
from bot.store.jobs.queue import MAX_LOST, Jobs
from bot.store.jobs.turns import FIRST_REST, MAX_REVIVALS, DeadJobs

REF = IssueRef("github.com", 7, 9, "octo", "parser", 4)
OPENED = Triage(ref=REF, why="opened")


class Stage:
    def __init__(self, database: Database) -> None:
        self.now = 1_000_000.0
        database.clock = lambda: self.now  # type: ignore[method-assign]
        self.jobs, self.dead, self.inbox = Jobs(database), DeadJobs(database), Inbox(database)
        self._stored = 0

    async def stored(self, work: Work) -> Job:
        self._stored += 1
        await self.inbox.accept(Arrival(f"{self._stored}", "issues", b"{}", (work,)))
        return await self.claimed(work)

    async def claimed(self, work: Work) -> Job:
        self.now += work.delay
        job = await self.jobs.claim(work.lane, "us")
        assert job is not None
        return job

    async def revived(self, after: float = FIRST_REST) -> int:
        self.now += after
        return await self.dead.revive()


@pytest.fixture
def stage(database: Database) -> Stage:
    return Stage(database)


async def test_jobs_that_died_during_an_outage_are_restarted_a_few_times(stage) -> None:
    job = await stage.stored(OPENED)
    for chance in range(MAX_REVIVALS["transient"]):
        await stage.jobs.mark_dead(job, "no answer", death="transient")
        rest = FIRST_REST * 2.0**chance
        assert await stage.revived(rest - 1) == 0
        assert await stage.revived(1) == 1
        job = await stage.claimed(OPENED)
        assert job.attempt == 1
    await stage.jobs.mark_dead(job, "no answer", death="transient")
    assert await stage.revived(100 * 86_400.0) == 0
    assert await stage.jobs.replay(job.id)


async def test_internal_errors_are_restarted_less_often_and_process_kills_never(stage) -> None:
    job = await stage.stored(OPENED)
    await stage.jobs.mark_dead(job, "KeyError")
    assert MAX_REVIVALS["fault"] < MAX_REVIVALS["transient"]
    assert await stage.revived() == 1
    for _ in range(MAX_LOST):
        stage.now += 3_600.0
        await stage.jobs.claim("run", "us")
        await stage.jobs.recover(blame=True)
    stage.now += 3_600.0
    assert await stage.jobs.claim("run", "us") is None
    assert (await stage.jobs.counts())["dead"] == 1
    assert await stage.revived(100 * 86_400.0) == 0


async def test_a_dead_job_is_not_restarted_if_a_later_one_succeeded(stage) -> None:
    job = await stage.stored(OPENED)
    await stage.jobs.mark_dead(job, "no answer", death="transient")
    other = await stage.stored(Edited(ref=REF))
    await stage.jobs.settle(other, "not triaged, or stopped")
    assert await stage.revived() == 1
    job = await stage.claimed(OPENED)
    await stage.jobs.mark_dead(job, "no answer", death="transient")
    await stage.jobs.settle(await stage.stored(Triage(ref=REF, why="command")), "posted")
    assert await stage.revived(10 * FIRST_REST) == 0


async def test_an_old_command_does_not_undo_what_came_after_it(stage) -> None:
    comment = Comment(1, 2, "rita", False, "/triage stop", "", "", "")
    job = await stage.stored(Commands(ref=REF, comment=comment))
    await stage.jobs.mark_dead(job, "no answer", death="transient")
    await stage.jobs.settle(await stage.stored(Ended(ref=REF, how="closed")), "closed")
    assert await stage.revived(10 * FIRST_REST) == 0
