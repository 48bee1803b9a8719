"""A lease is held by one process at a time and expires by itself."""

from __future__ import annotations

import asyncio

import pytest

from bot.store.databases.database import Database
from bot.store.workers import Leases


async def test_one_process_has_a_lease_until_it_expires(database: Database) -> None:
    leases = Leases(database)
    taken = await asyncio.gather(*(leases.take("upkeep", 60.0) for _ in range(5)))
    assert sorted(taken) == [False] * 4 + [True]
    assert await leases.take("another", 0.01)
    await asyncio.sleep(0.05)
    assert await leases.take("another", 60.0)


async def test_two_processes_with_reordered_clock_reads_do_not_both_hold_it(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    leases = Leases(database)
    times = iter((1_000.005, 1_000.0))
    monkeypatch.setattr(database, "clock", lambda: next(times))
    assert [await leases.take("upkeep", 60.0) for _ in range(2)] == [True, False]


async def test_a_lease_far_in_the_future_is_ignored(database: Database) -> None:
    leases = Leases(database)
    assert await leases.take("upkeep", 1_000_000.0)
    assert await leases.take("upkeep", 60.0)
