"""Every statement that makes a job wait also stores a wake-up, in the same transaction."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from bot.errors import UserError
from bot.jobs import Edited, Expire, Job, Triage, Work
from bot.ports import IssueRef
from bot.store.databases.postgres import PostgresStore, connect
from bot.store.databases.postgres_schema import migrate
from bot.store.jobs.deliveries import Arrival
from tests.serve.app import ask
from tests.servers.postgres import Postgres

REF = IssueRef("github.com", 7, 9, "octo", "parser", 1)
WAKEUPS = """
SELECT lock, round(extract(epoch FROM coalesce(scheduled_at, now()) - now()) / 10) * 10
FROM procrastinate_jobs
"""


@pytest.fixture
async def store(url: str) -> AsyncIterator[PostgresStore]:
    store = PostgresStore(url)
    yield store
    await store.aclose()


async def stored(store: PostgresStore, work: Work) -> None:
    assert await store.inbox.accept(Arrival("g", "issues", b"{}", (work,)))


async def taken(store: PostgresStore) -> Job:
    await stored(store, Triage(ref=REF, why="opened"))
    job = await store.jobs.claim("run", "1@here")
    assert job is not None
    return job


@pytest.mark.parametrize(
    ("work", "expected"),
    [
        pytest.param(Triage(ref=REF, why="opened"), [(None, 0)], id="due-at-once"),
        pytest.param(Edited(ref=REF), [(None, 60)], id="in-a-minute"),
        pytest.param(Expire(ref=REF, question_id="q"), [], id="in-two-weeks-not-yet"),
    ],
)
async def test_a_stored_job_has_a_wakeup_at_its_time(
    store: PostgresStore, url: str, work: Work, expected: list[tuple[None, int]]
) -> None:
    await stored(store, work)
    assert ask(url, WAKEUPS) == expected


Change = Callable[[PostgresStore, Job], Awaitable[object]]


async def _replayed(store: PostgresStore, job: Job) -> None:
    await store.jobs.mark_dead(job, "a bug")
    assert await store.jobs.replay(job.id)


async def _unparked(store: PostgresStore, job: Job) -> None:
    await store.jobs.park(job, "suspended")
    assert await store.jobs.unpark([REF.repository.key])


CHANGES: list[tuple[str, Change, int]] = [
    ("put-off", lambda store, job: store.jobs.postpone(job, 30.0, "later"), 30),
    ("replayed", _replayed, 0),
    ("unparked", _unparked, 0),
    ("recovered", lambda store, _: store.jobs.recover(blame=True, place="here"), 0),
    ("stalled", lambda store, _: store.workers.free_stalled(5.0, "there"), 0),
]


@pytest.mark.parametrize(("change", "seconds"), [pytest.param(*one, id=name) for name, *one in CHANGES])
async def test_a_retried_job_has_another_wakeup(store: PostgresStore, url: str, change: Change, seconds: int) -> None:
    job = await taken(store)
    ask(url, "DELETE FROM procrastinate_jobs")
    await change(store, job)
    assert ask(url, WAKEUPS) == [(None, seconds)]


async def test_only_due_jobs_without_a_wakeup_get_one_afterwards(store: PostgresStore, url: str) -> None:
    await stored(store, Expire(ref=REF, question_id="q"))
    assert await store.workers.create_missing_wakeups() == 0
    ask(url, "UPDATE jobs SET due = due - 14 * 86400 - 10")
    ask(url, "DELETE FROM procrastinate_jobs")
    assert [await store.workers.create_missing_wakeups() for _ in range(2)] == [1, 0]


def test_a_database_of_another_application_is_left_alone(postgres: Postgres) -> None:
    url = postgres.create()
    ask(url, "CREATE TYPE procrastinate_job_status AS ENUM ('todo')")
    with connect(url) as connection, pytest.raises(UserError, match="another application's"):
        migrate(connection)
    assert ask(url, "SELECT to_regclass('jobs')") == [(None,)]


def test_a_newer_release_s_wakeups_are_refused(postgres: Postgres) -> None:
    url = postgres.migrated()
    ask(url, "INSERT INTO wakeup_steps VALUES ('99.00.00_01_what_will_be.sql')")
    with pytest.raises(UserError, match="newer release"):
        PostgresStore(url)
