"""Runs requested over HTTP, on both databases."""

from __future__ import annotations

import pytest

from bot.jobs import ApiRun
from bot.ports import RepositoryRef
from bot.store.databases.database import Database
from bot.store.runs.api_runs import KEPT, ApiRuns
from bot.store.tables import Store

REPO = RepositoryRef("github.com", 9, 1000, "octo", "feedbox")


@pytest.fixture
def clock() -> list[float]:
    return [1_000_000.0]


async def test_a_run_and_its_key_expire_together(database: Database, store: Store, clock: list[float]) -> None:
    database.clock = lambda: clock[0]  # type: ignore[method-assign]
    runs = ApiRuns(database)
    first = await runs.accept(ApiRun(ref=REPO, id="a"), "{}", "key")
    assert (await runs.accept(ApiRun(ref=REPO, id="b"), "{}", "key")).id == first.id == "a"
    assert (await runs.accept(ApiRun(ref=REPO, id="c"), "{}", None)).state == "queued"
    job = await store.jobs.claim("run", "w")
    assert job is not None
    assert await store.jobs.claim("run", "w") is None, "a repository has one at a time"
    await runs.settle("a", job, sha="f" * 40, result="{}", fault=None)
    kept = await runs.get("a")
    assert kept is not None
    assert (kept.state, kept.sha, kept.settled_at) == ("finished", "f" * 40, clock[0])
    clock[0] += KEPT + 1
    assert (await runs.accept(ApiRun(ref=REPO, id="d"), "{}", "key")).id == "d"
    assert await runs.get("a") is None
    assert await runs.get("c") is not None
