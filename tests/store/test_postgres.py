"""Guarantees of a database with many processes: isolation of transactions, and recovery after a restart."""

from __future__ import annotations

import asyncio
import random
from collections import defaultdict
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from bot.errors import UserError
from bot.jobs import Continue, Job, Triage
from bot.limits.ceilings import Amount, Ceiling, Scope
from bot.ports import IssueRef
from bot.store.databases.database import STEPS
from bot.store.databases.postgres import PostgresDatabase, PostgresStore, connect
from bot.store.databases.postgres_schema import in_postgres, migrate
from bot.store.jobs.deliveries import Arrival
from tests.servers.postgres import Postgres

DAY = Scope("repository", "github.com/9", "2026-01-31", Ceiling(tokens=100))


@pytest.fixture
async def stores(url: str) -> AsyncIterator[list[PostgresStore]]:
    """Yield a store for each of three processes."""
    stores = [PostgresStore(url) for _ in range(3)]
    yield stores
    for store in stores:
        await store.aclose()


def ref(number: int) -> IssueRef:
    return IssueRef("github.com", 7, 9, "octo", "parser", number)


def test_concurrent_migrations_run_once(postgres: Postgres) -> None:
    url = postgres.create()

    def once(_: int) -> int:
        with connect(url) as connection:
            return migrate(connection)

    with ThreadPoolExecutor(3) as threads:
        assert sorted(threads.map(once, range(3))) == [0, 0, len(STEPS)]


def test_a_database_of_another_release_is_refused(postgres: Postgres) -> None:
    url = postgres.create()
    with pytest.raises(UserError, match="run `triage migrate`"):
        PostgresStore(url)
    with connect(url) as connection:
        migrate(connection)
        connection.execute("UPDATE schema_version SET version = version - 1")
        with pytest.raises(UserError, match="run `triage migrate`"):
            PostgresStore(url)
        connection.execute("UPDATE schema_version SET version = version + 2")
        with pytest.raises(UserError, match="newer release"):
            migrate(connection)
    with pytest.raises(UserError, match="newer release"):
        PostgresStore(url)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        pytest.param("postgresql://me:secret@127.0.0.1:1/name", "cannot be reached", id="nobody-answers"),
        pytest.param("postgresql://me:secret@host/name?what=ever", "is not an address", id="no-address"),
    ],
)
def test_an_unreachable_database_is_reported_without_its_password(url: str, message: str) -> None:
    with pytest.raises(UserError, match=message) as raised:
        PostgresStore(url)
    assert "secret" not in str(raised.value)


async def test_many_workers_take_each_job_once_and_an_issue_s_in_order(stores: list[PostgresStore]) -> None:
    issues, each = 6, 4
    arrivals = [
        Arrival(f"g{issue}-{at}", "issues", b"{}", (Triage(ref=ref(issue), why="opened"),))
        for at in range(each)
        for issue in range(issues)
    ]
    for at in range(0, len(arrivals), issues):  # GitHub sends an issue's events one after the other, each twice
        batch = arrivals[at : at + issues]
        known = await asyncio.gather(*(store.inbox.accept(one) for one in batch for store in stores[:2]))
        assert sum(known) == issues
    done: dict[str, list[int]] = defaultdict(list)
    active_attempts: set[str] = set()

    async def work(store: PostgresStore) -> None:
        while sum(map(len, done.values())) < issues * each:
            job = await store.jobs.claim("run", str(id(store)))
            if job is None:
                await asyncio.sleep(0.005)
                continue
            assert job.work.key not in active_attempts
            active_attempts.add(job.work.key)
            await asyncio.sleep(random.uniform(0, 0.01))
            active_attempts.discard(job.work.key)
            done[job.work.key].append(job.id)
            await store.jobs.settle(job)

    await asyncio.gather(*(work(store) for store in stores for _ in range(2)))
    assert all(ids == sorted(set(ids)) and len(ids) == each for ids in done.values())


async def test_with_concurrent_workers_a_limit_holds_and_a_run_is_opened_once(stores: list[PostgresStore]) -> None:
    reserved = await asyncio.gather(
        *(store.usage.reserve((DAY,), Amount(tokens=30)) for store in stores for _ in range(4))
    )
    assert reserved.count(None) == 3
    runs = await asyncio.gather(*(store.for_issue(ref(1)).runs.begin(()) for store in stores for _ in range(4)))
    assert {run.number for run in runs} == {1}


async def test_a_restarted_server_is_used_again(url: str, stores: list[PostgresStore]) -> None:
    store = stores[0]
    await store.inbox.accept(Arrival("g", "issues", b"{}", (Continue(ref=ref(1)),)))
    with connect(url) as connection:
        others = "pid <> pg_backend_pid() AND datname = current_database()"
        connection.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {others}".encode())
    job = await store.jobs.claim("run", "me")
    assert isinstance(job, Job)
    assert await store.jobs.counts() == {"doing": 1}


async def test_text_is_stored_without_characters_that_postgres_refuses(stores: list[PostgresStore]) -> None:
    events = stores[0].for_issue(ref(1)).events(1)
    await events.add("100 % of 'a\0b\ud83d' :name ?")
    assert await events.all() == ["100 % of 'a\N{REPLACEMENT CHARACTER}b\N{REPLACEMENT CHARACTER}' :name ?"]


async def test_quoted_parts_of_statements_are_unchanged(url: str) -> None:
    database = PostgresDatabase(url)
    message = await database.read(lambda db: db.execute("SELECT ':a ? 50 %', :a", {"a": "x"}).fetchone())
    assert message == (":a ? 50 %", "x")
    await database.aclose()


def test_the_schema_for_postgres_contains_no_sqlite_types() -> None:
    words = b" ".join(statement for step in STEPS for statement in in_postgres(step))
    assert not any(word in words for word in (b"STRICT", b"ROWID", b"AUTOINCREMENT", b" REAL", b" BLOB"))
