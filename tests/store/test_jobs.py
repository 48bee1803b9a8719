"""The jobs table: order, attempts, retries, and durability after a kill."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from bot.errors import JobTakenOverError
from bot.jobs import EDIT_DELAY, Commands, Continue, Edited, Ended, Expire, Job, Triage, Work, kind_of
from bot.ports import Comment, IssueRef
from bot.store.databases.database import Database
from bot.store.jobs.deliveries import MERGE_SECONDS, Arrival, Inbox
from bot.store.jobs.queue import FEW, MAX_ATTEMPTS, MAX_LOST, Jobs
from bot.store.pages.overview import JobRow, WaitingJobs


@dataclass
class Clock:
    now: float = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Queue:
    inbox: Inbox
    jobs: Jobs
    clock: Clock
    stored: int = 0

    async def store(self, *work: Work) -> None:
        for one in work:
            self.stored += 1
            await self.inbox.accept(Arrival(f"guid-{self.stored}", "issues", b"{}", (one,)))

    async def claim(self, lane: str = "run") -> Job:
        job = await self.jobs.claim(lane, "me")  # type: ignore[arg-type]
        assert job is not None
        return job

    async def idle(self, lane: str = "run") -> bool:
        return await self.jobs.claim(lane, "me") is None  # type: ignore[arg-type]

    async def dead(self) -> list[JobRow]:
        return await WaitingJobs(self.jobs._database).listing("dead", None)


@pytest.fixture
def queue(database: Database) -> Queue:
    clock = Clock()
    database.clock = clock  # type: ignore[method-assign]
    return Queue(Inbox(database), Jobs(database), clock)


def ref(number: int = 1, repository: int = 9) -> IssueRef:
    return IssueRef("github.com", 7, repository, "octo", "parser", number)


def triage(number: int = 1) -> Triage:
    return Triage(ref=ref(number), why="opened")


async def test_an_issue_has_one_running_job_in_the_order_of_events(queue: Queue) -> None:
    await queue.store(triage(), Continue(ref=ref()), triage(2))
    first = await queue.claim()
    assert (await queue.claim()).work == triage(2)
    assert await queue.idle()
    await queue.jobs.settle(first)
    assert (await queue.claim()).work == Continue(ref=ref())


async def test_an_earlier_job_goes_first_although_the_clock_of_its_process_is_ahead(queue: Queue) -> None:
    queue.clock.now += 0.02
    await queue.store(triage())
    queue.clock.now -= 0.02
    await queue.store(Continue(ref=ref()))
    assert await queue.idle()
    queue.clock.now += 0.02
    assert (await queue.claim()).work == triage()


async def test_a_job_from_before_the_clock_was_set_back_blocks_no_other(queue: Queue) -> None:
    await queue.store(triage())
    queue.clock.now -= 3_600
    await queue.store(Continue(ref=ref()))
    assert (await queue.claim()).work == Continue(ref=ref())


async def test_a_wait_that_began_while_the_clock_was_ahead_is_not_longer_than_meant(queue: Queue) -> None:
    ahead = 90 * 86_400.0
    queue.clock.now += ahead
    await queue.store(triage(), Edited(ref=ref(2)), triage(3))
    await queue.jobs.postpone(await queue.claim(), 30.0, "GitHub is down")
    await queue.jobs.mark_dead(await queue.claim(), "a fault")
    queue.clock.now -= ahead
    assert await queue.jobs.correct_due_times() == 3
    assert await queue.idle()
    queue.clock.now += 30
    assert (await queue.claim()).work == triage()
    queue.clock.now += EDIT_DELAY
    assert (await queue.claim()).work == Edited(ref=ref(2))
    assert await queue.jobs.correct_due_times() == 0


async def test_commands_do_not_wait_behind_a_run(queue: Queue) -> None:
    await queue.store(triage(), Ended(ref=ref(), how="closed"))
    await queue.claim()
    assert (await queue.claim("control")).work == Ended(ref=ref(), how="closed")


async def test_follow_up_jobs_are_stored_once_when_a_job_is_settled(queue: Queue) -> None:
    await queue.store(triage())
    job = await queue.claim()
    await queue.jobs.settle(job, next_work=[Continue(ref=ref())])
    with pytest.raises(JobTakenOverError):
        await queue.jobs.settle(job, next_work=[Continue(ref=ref())])
    await queue.jobs.settle(await queue.claim())
    assert await queue.idle()


async def test_a_postponed_job_retains_its_place(queue: Queue) -> None:
    await queue.store(triage(), Continue(ref=ref()))
    await queue.jobs.postpone(await queue.claim(), 30.0, "GitHub is down")
    assert await queue.idle()
    assert await queue.jobs.idle() == 30.0
    queue.clock.now += 30
    job = await queue.claim()
    assert (job.work, job.attempt) == (triage(), 2)


async def test_a_question_that_waits_for_weeks_blocks_no_job(queue: Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Expire, "delay", 14 * 86_400.0)
    await queue.store(Expire(ref=ref(), question_id="q"), Continue(ref=ref()))
    assert (await queue.claim()).work == Continue(ref=ref())


async def test_edits_within_a_minute_are_merged(queue: Queue) -> None:
    await queue.store(Edited(ref=ref()))
    queue.clock.now += 50
    await queue.store(Edited(ref=ref()))
    queue.clock.now += 50
    assert await queue.idle()
    queue.clock.now += 10
    await queue.jobs.settle(await queue.claim())
    assert await queue.idle()
    await queue.store(Edited(ref=ref()))
    queue.clock.now += EDIT_DELAY
    await queue.claim()


async def test_repeated_edits_delay_a_job_only_for_a_limited_time(queue: Queue) -> None:
    await queue.store(Edited(ref=ref()))
    for _ in range(int(MERGE_SECONDS // 50)):
        queue.clock.now += 50
        await queue.store(Edited(ref=ref()))
    assert await queue.claim()


async def test_an_attempt_that_was_taken_over_cannot_write(queue: Queue) -> None:
    await queue.store(triage())
    frozen = await queue.claim()
    await queue.jobs.check(frozen)
    assert await queue.jobs.recover(blame=False) == 1
    taken = await queue.claim()
    for forbidden in (
        queue.jobs.check(frozen),
        queue.jobs.settle(frozen),
        queue.jobs.postpone(frozen, 1, ""),
        queue.jobs.mark_dead(frozen, ""),
    ):
        with pytest.raises(JobTakenOverError):
            await forbidden
    await queue.jobs.check(taken)


async def test_a_job_that_kills_its_process_ends_dead_and_the_next_one_runs(queue: Queue) -> None:
    await queue.store(triage(), Continue(ref=ref()))
    for _ in range(MAX_LOST):
        assert (await queue.claim()).work == triage()
        await queue.jobs.recover(blame=True)
    assert (await queue.claim()).work == Continue(ref=ref())
    (dead,) = await queue.dead()
    assert (dead.kind, dead.issue_key, "crashed its worker process" in dead.message) == ("triage", ref().key, True)


async def test_twenty_kills_of_the_server_lose_nothing_and_no_job_is_endless(queue: Queue) -> None:
    await queue.store(triage())
    for attempt in range(1, MAX_ATTEMPTS + 1):
        assert (await queue.claim()).attempt == attempt
        await queue.jobs.recover(blame=False)
        assert (await queue.jobs.idle() is None) == (attempt < FEW)
        queue.clock.now += 300
    assert MAX_ATTEMPTS > 20
    assert await queue.idle()
    assert [dead.attempt for dead in await queue.dead()] == [MAX_ATTEMPTS]


async def test_a_dead_job_can_be_replayed(queue: Queue) -> None:
    await queue.store(triage())
    await queue.jobs.mark_dead(await queue.claim(), "a bug")
    assert await queue.jobs.counts() == {"dead": 1}
    (dead,) = await queue.dead()
    assert await queue.jobs.replay(dead.id)
    assert not await queue.jobs.replay(dead.id)
    assert (await queue.claim()).attempt == 1


async def test_parked_jobs_wait_for_their_installation(queue: Queue) -> None:
    await queue.store(triage(), Triage(ref=ref(repository=91), why="opened"))
    for _ in range(2):
        await queue.jobs.park(await queue.claim(), "suspended")
    assert await queue.jobs.unpark(["github.com/9"]) == 1
    assert (await queue.claim()).work == triage()
    assert await queue.idle()


async def test_an_interrupted_transaction_is_rolled_back(database: Database) -> None:

    def fail(db):
        db.execute("INSERT INTO deliveries VALUES ('g', 'issues', ?, 0, NULL)", (b"",))
        raise KeyError("in the middle")

    with pytest.raises(KeyError):
        await database.do(fail)
    assert await database.read(lambda db: db.execute("SELECT count(*) FROM deliveries").fetchone()) == (0,)


async def test_old_deliveries_and_jobs_are_dropped_only_when_they_are_done(queue: Queue) -> None:
    await queue.store(triage(), triage(2))
    await queue.jobs.settle(await queue.claim())
    queue.clock.now += 8 * 86_400
    assert await queue.inbox.forget_old(7 * 86_400.0) == 1
    assert await queue.jobs.forget_done(86_400) == 1
    assert (await queue.claim()).work == triage(2)


async def test_a_limit_costs_a_job_none_of_its_attempts(queue: Queue) -> None:
    await queue.store(Triage(ref=ref(1), why="opened"))
    for _ in range(2 * MAX_ATTEMPTS):
        await queue.jobs.postpone(await queue.claim(), 0.0, "GitHub asked to wait", limited=True)
    job = await queue.claim()
    assert (job.attempt, job.tried) == (2 * MAX_ATTEMPTS + 1, 1)


def commands(body: str = "/triage status", comment: int = 1, sender: int = 5) -> Commands:
    posted = Comment(comment, sender, "rita", author_is_bot=False, body=body, url="", created_at="", updated_at="")
    return Commands(ref=ref(), comment=posted, sender="rita", sender_id=sender)


async def waiting(queue: Queue, lane: str) -> int:
    count = 0
    while (job := await queue.jobs.claim(lane, "me")) is not None:  # type: ignore[arg-type]
        await queue.jobs.settle(job)
        count += 1
    return count


AGAIN = Triage(ref=ref(), why="command", by=5)
STOP, RESUME = commands("/triage stop"), commands("/triage resume", 2)


@pytest.mark.parametrize(
    ("work", "jobs"),
    [
        pytest.param([AGAIN] * 3, 1, id="again"),
        pytest.param([Continue(ref=ref())] * 3, 1, id="continue"),
        pytest.param([AGAIN, Continue(ref=ref()), AGAIN], 3, id="with-another-between"),
        pytest.param([AGAIN, Triage(ref=ref(), why="command", by=6)], 2, id="by-another-person"),
        pytest.param([AGAIN, Triage(ref=ref(2), why="command", by=5)], 2, id="on-another-issue"),
        pytest.param([triage(), Triage(ref=ref(), why="reopened"), triage()], 3, id="what-github-says"),
        pytest.param([commands(comment=n) for n in range(60)], 1, id="the-same-comment-60-times"),
        pytest.param([commands(), commands(sender=6)], 2, id="two-people"),
        pytest.param([STOP, RESUME, commands("/triage stop", 3)], 3, id="stop-resume-stop"),
    ],
)
async def test_equal_waiting_commands_are_merged(queue: Queue, work: list[Work], jobs: int) -> None:
    await queue.store(*work)
    assert await waiting(queue, work[0].lane) == jobs


async def test_a_running_command_is_not_merged_with_another(queue: Queue) -> None:
    await queue.store(AGAIN)
    job = await queue.claim()
    await queue.store(AGAIN)
    await queue.jobs.settle(job)
    assert await waiting(queue, "run") == 1
    await queue.store(AGAIN)
    await queue.jobs.postpone(await queue.claim(), 0.0, "later")
    await queue.store(AGAIN)
    assert await waiting(queue, "run") == 2


async def test_jobs_of_a_newer_release_are_not_claimed(
    queue: Queue, database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    await queue.store(triage(1), Edited(ref=ref(1)), Triage(ref=replace(ref(2), installation_id=8), why="opened"))
    for kind in ("triage", "edited"):
        newer = f"""'"kind":"{kind}"', '"kind":"newer-{kind}"'"""
        newer = f"UPDATE jobs SET work = replace(work, {newer}) WHERE issue_key LIKE '%#1'"
        assert await database.do(lambda db, newer=newer: db.execute(newer).rowcount) == 2
    for _ in range(2):
        job = await queue.claim()
        assert job.work.key == ref(2).key
        await queue.jobs.postpone(job, 0.0, "again")
    assert len([record for record in caplog.records if record.__dict__.get("action") == "job_left"]) == 1
    await queue.store(Edited(ref=ref(1)), Triage(ref=ref(1), why="command"))  # besides what an old process cannot read
    rows = await database.read(lambda db: db.execute("SELECT work, attempt FROM jobs ORDER BY id").fetchall())
    kinds = [(kind_of(work), attempt) for work, attempt in rows]
    assert kinds == [("newer-triage", 0), ("newer-edited", 0), ("triage", 2), ("edited", 0), ("triage", 0)]
    await queue.jobs.mark_dead(await queue.claim(), "for a list")
    assert [held.kind for held in await queue.dead()] == ["triage"]
    after = await database.read(lambda db: db.execute("SELECT work FROM jobs ORDER BY id LIMIT 2").fetchall())
    assert [work for (work,) in after] == [work for work, _ in rows[:2]]
