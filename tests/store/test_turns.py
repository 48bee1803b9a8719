"""Installations take turns in the queue, on both databases."""

from __future__ import annotations

import pytest

from bot.jobs import Ended, InstallationChanged, Job, Triage, Work
from bot.ports import IssueRef
from bot.store.databases.database import Database
from bot.store.jobs.deliveries import Arrival, Inbox
from bot.store.jobs.queue import Jobs
from bot.work import Lane
from tests.publish.clock import Clock

LOUD, QUIET, THIRD = 7, 8, 9


class Queue:
    """Jobs of several installations, with a clock that stands still unless a test sets it."""

    def __init__(self, database: Database) -> None:
        self.clock = Clock()
        database.clock = self.clock.seconds  # type: ignore[method-assign]
        self.inbox, self.jobs = Inbox(database), Jobs(database)
        self.stored = 0

    async def store(self, *work: Work, source: str = "guid") -> None:
        for one in work:
            self.stored += 1
            await self.inbox.accept(Arrival(f"{source}:{self.stored}", "issues", b"{}", (one,)))

    async def claim(self, lane: Lane = "run") -> Job:
        job = await self.jobs.claim(lane, "me")
        assert job is not None
        return job

    async def served(self, most: int, lane: Lane = "run") -> list[str]:
        """Return the installations of the next jobs; each is done before the next is claimed."""
        order = []
        for _ in range(most):
            job = await self.claim(lane)
            order.append(job.work.installation.rpartition(":")[2])
            await self.jobs.settle(job)
        return order


@pytest.fixture
def queue(database: Database) -> Queue:
    return Queue(database)


def triage(number: int, installation: int) -> Triage:
    return Triage(ref=IssueRef("github.com", installation, installation * 10, "octo", "parser", number), why="opened")


async def test_one_issue_does_not_wait_for_120_of_another_installation(queue: Queue) -> None:
    await queue.store(*(triage(n, LOUD) for n in range(1, 121)))
    active_attempts = [await queue.claim() for _ in range(4)]
    await queue.store(triage(1, QUIET))
    await queue.jobs.settle(active_attempts[0])
    assert (await queue.claim()).work == triage(1, QUIET)


async def test_three_installations_are_served_in_turns(queue: Queue) -> None:
    await queue.store(*(triage(n, installation) for installation in (LOUD, QUIET, THIRD) for n in range(1, 4)))
    assert await queue.served(9) == ["7", "8", "9"] * 3


async def test_each_lane_has_its_own_turns(queue: Queue) -> None:
    for installation in (LOUD, QUIET):
        refs = [triage(n, installation).ref for n in (1, 2)]
        await queue.store(*(Ended(ref=ref, how="closed") for ref in refs), triage(1, installation))
    assert await queue.served(4, "control") == ["7", "8", "7", "8"]
    assert await queue.served(2) == ["7", "8"]


async def test_jobs_of_one_installation_keep_their_order(queue: Queue) -> None:
    await queue.store(*(triage(n, LOUD) for n in (3, 1, 2)))
    assert [(await queue.claim()).work.ref.number for _ in range(3)] == [3, 1, 2]


async def test_a_job_with_an_attempt_goes_first_among_those_of_its_installation(queue: Queue) -> None:
    await queue.store(*(triage(n, LOUD) for n in (1, 2, 3)))
    await queue.jobs.postpone(await queue.claim(), 1.0, "later")
    queue.clock.time = queue.clock.time.replace(minute=30)
    assert (await queue.claim()).work == triage(1, LOUD)


async def test_a_new_issue_does_not_wait_for_a_backfill(queue: Queue) -> None:
    await queue.store(*(triage(n, LOUD) for n in range(1, 51)), source="backfill")
    first = await queue.claim()
    await queue.store(triage(99, LOUD))
    assert (await queue.claim()).work == triage(99, LOUD)
    assert first.work == triage(1, LOUD)
    assert (await queue.claim()).work == triage(2, LOUD)


async def test_a_clock_that_is_set_back_excludes_no_installation(queue: Queue) -> None:
    await queue.store(triage(1, LOUD))
    await queue.served(1)
    queue.clock.time = queue.clock.time.replace(hour=1)
    await queue.store(triage(2, LOUD), *(triage(n, QUIET) for n in range(1, 4)))
    assert await queue.served(2) == ["7", "8"]


async def test_jobs_without_an_installation_take_turns(queue: Queue, database: Database) -> None:
    await queue.store(*(triage(n, LOUD) for n in range(1, 5)), triage(1, QUIET))
    older = "UPDATE jobs SET installation = '' WHERE issue_key LIKE '%80#1'"
    await database.do(lambda db: db.execute(older).rowcount)
    assert (await queue.served(2))[1] == "8"


async def test_an_event_of_an_installation_is_its_own_turn(queue: Queue) -> None:
    changed = InstallationChanged(host="github.com", id=QUIET, how="suspend")
    await queue.store(*(Ended(ref=triage(n, LOUD).ref, how="closed") for n in range(1, 5)), changed)
    assert (await queue.served(2, "control")) == ["7", "8"]
    assert changed.installation == triage(1, QUIET).installation


async def test_turns_are_deleted_with_the_jobs(queue: Queue, database: Database) -> None:
    await queue.store(triage(1, LOUD))
    await queue.served(1)
    queue.clock.time = queue.clock.time.replace(hour=23)
    assert await queue.jobs.forget_done(3_600.0) == 1
    assert await database.read(lambda db: db.execute("SELECT * FROM turns").fetchall()) == []
