"""The write limits of an installation, shared by all processes."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections import Counter

import pytest

from bot.errors import RateLimitedError
from bot.limits.writes import PER_HOUR, PER_MINUTE, REPLIES, WHOLE, WriteBudget
from bot.ports import RepositoryRef
from bot.store.databases.database import Database
from bot.store.installations import Installations
from bot.store.writes import SEEN_FOR, StoredWrites

OURS, OTHERS = "github.com/installation:7", "github.com/installation:8"
REACTION = WriteBudget(minute=0.7, hour=0.4, retries_on_time=False)


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def processes(database: Database, clock: Clock) -> list[StoredWrites]:
    """Return the limiters of two processes that share only the database."""
    database.clock = clock  # type: ignore[method-assign]
    return [StoredWrites(database), StoredWrites(database)]


async def refused(writes: StoredWrites, budget: WriteBudget = WHOLE) -> float:
    """Return the seconds to wait; 0 if a write was allowed."""
    try:
        await writes.take(OURS, budget)
    except RateLimitedError as error:
        return error.after or -1.0
    return 0.0


async def test_writes_of_all_processes_stay_within_the_minute_and_the_hour(processes, clock) -> None:
    made: list[float] = []
    for second in range(0, 4_500, 20):
        clock.now = 1_800_000_000.0 + second
        while not await refused(processes[len(made) % 2]):
            made.append(clock.now)
    for seconds, most in ((60, PER_MINUTE), (3_600, PER_HOUR)):
        assert max(sum(start <= at < start + seconds for at in made) for start in made) == most


async def test_concurrent_writes_stay_within_the_rate_limit(processes) -> None:
    waits = await asyncio.gather(*(refused(processes[n % 2]) for n in range(PER_MINUTE + 10)))
    assert waits.count(0.0) == PER_MINUTE
    await processes[0].take(OTHERS)


async def test_refused_writers_retry_one_after_the_other(processes) -> None:
    for _ in range(PER_MINUTE):
        await processes[0].take(OURS)
    waits = [await refused(processes[n % 2]) for n in range(5)]
    apart = [later - sooner for sooner, later in itertools.pairwise(waits)]
    assert waits[0] == pytest.approx(60, abs=0.01)
    assert apart == pytest.approx([60 / PER_MINUTE] * 4, abs=0.01)


async def test_less_important_writes_leave_capacity_and_block_nothing(processes) -> None:
    allowed = [await refused(processes[0], REACTION) for _ in range(PER_MINUTE)].count(0.0)
    assert allowed == int(0.7 * PER_MINUTE)
    assert [await refused(processes[1]) for _ in range(PER_MINUTE - allowed)] == [0.0] * (PER_MINUTE - allowed)
    assert await refused(processes[1]) == pytest.approx(60, abs=0.01)


async def test_the_second_limit_in_a_row_pauses_every_process(processes, clock) -> None:
    one, other = processes
    await one.limited(OURS, 40.0, whole=False, write=False)
    await other.check_paused(OURS)
    await other.limited(OURS, 40.0, whole=False, write=False)
    clock.now += SEEN_FOR
    for writes in processes:
        with pytest.raises(RateLimitedError) as raised:
            await writes.check_paused(OURS)
        assert raised.value.after == pytest.approx(40 - SEEN_FOR, abs=2)
    await one.check_paused(OTHERS)
    clock.now += 40
    await one.check_paused(OURS)


async def test_a_limit_on_all_requests_pauses_at_once(processes, clock) -> None:
    await processes[0].limited(OURS, 1_800.0, whole=True, write=False)
    with pytest.raises(RateLimitedError) as raised:
        await processes[1].check_paused(OURS)
    assert raised.value.after == pytest.approx(1_800, abs=0.01)


async def test_a_refused_write_pauses_all_writes_and_no_reads(processes, clock) -> None:
    one, other = processes
    waits: list[float] = []
    for _ in range(3):
        for _ in range(2):  # the second was in flight
            await one.limited(OURS, None, whole=False, write=True)
        await one.check_paused(OURS)
        await one.answered(OURS, write=False)
        waits.append(await refused(other))
        clock.now += waits[-1]
    assert waits == pytest.approx([60, 120, 240], abs=1)
    assert await refused(other) == 0.0
    await other.answered(OURS, write=True)
    await one.limited(OURS, None, whole=False, write=True)
    assert await refused(other) == pytest.approx(60, abs=1)


async def test_asking_whether_writes_are_paused_counts_no_write(processes, clock) -> None:
    one, other = processes
    for _ in range(2 * PER_MINUTE):
        await one.check_writes_paused(OURS)
    assert not await refused(one)
    await one.limited(OURS, 90.0, whole=False, write=True)
    for budget in (WHOLE, REPLIES):
        with pytest.raises(RateLimitedError, match="writes are paused") as caught:
            await other.check_writes_paused(OURS, budget)
        assert caught.value.after is not None
        assert caught.value.after >= 90.0
    await other.check_writes_paused(OTHERS)
    clock.now += 200.0
    await other.check_writes_paused(OURS)


async def test_a_success_in_between_ends_the_series_of_limits(processes, clock) -> None:
    one, other = processes
    await one.limited(OURS, None, whole=False, write=False)
    await other.check_paused(OURS)
    await other.answered(OURS, write=False)
    await one.limited(OURS, None, whole=False, write=False)
    clock.now += SEEN_FOR
    assert await refused(other) == 0.0


async def test_without_a_named_time_the_pause_doubles_up_to_a_maximum(processes, clock) -> None:
    quiet: list[float] = []
    await processes[0].limited(OURS, None, whole=False, write=False)
    for _ in range(7):
        for _ in range(3):  # calls in flight add no information
            await processes[0].limited(OURS, None, whole=False, write=False)
        with pytest.raises(RateLimitedError) as raised:
            await processes[1].check_paused(OURS)
        quiet.append(raised.value.after or 0)
        clock.now += quiet[-1] + SEEN_FOR
    assert quiet == pytest.approx([60, 120, 240, 480, 900, 900, 900], abs=0.1)


async def test_a_clock_that_is_set_back_blocks_no_writes(processes, clock) -> None:
    for _ in range(PER_MINUTE):
        await processes[0].take(OURS)
    await processes[0].limited(OURS, 60.0, whole=True, write=False)
    clock.now -= 86_400
    assert await refused(processes[0]) == 0.0
    await processes[0].check_paused(OURS)


async def written(writes: StoredWrites, repository: str, budget: WriteBudget = WHOLE) -> int:
    """Return the number of writes that are allowed one after the other."""
    for count in range(2_000):
        try:
            await writes.take(OURS, budget, repository)
        except RateLimitedError:
            return count
    raise AssertionError("nothing is refused")


LOUD, SILENT, THIRD = (f"github.com/{number}" for number in (1, 2, 3))


async def listed(database: Database, *keys: str) -> None:
    refs = [RepositoryRef("github.com", 7, int(key.rpartition("/")[2]), "octo", f"r{n}") for n, key in enumerate(keys)]
    await Installations(database).add(refs)


async def test_one_repository_leaves_capacity_for_the_others_of_its_account(database, processes, clock) -> None:
    await listed(database, LOUD, SILENT, THIRD)
    loud = await written(processes[0], LOUD)
    assert loud == int(PER_MINUTE * 0.75)
    assert await written(processes[1], SILENT) == PER_MINUTE - loud
    for _ in range(60):
        clock.now += 60
        await written(processes[0], LOUD)
    assert await written(processes[0], SILENT) > 0


async def test_two_busy_repositories_get_equal_parts(database, processes) -> None:
    await listed(database, LOUD, SILENT)
    counts = Counter[str]()
    for n in range(2 * PER_MINUTE):
        repository = (LOUD, SILENT)[n % 2]
        with contextlib.suppress(RateLimitedError):
            await processes[0].take(OURS, WHOLE, repository)
            counts[repository] += 1
    assert abs(counts[LOUD] - counts[SILENT]) <= 1
    assert counts.total() >= int(PER_MINUTE * 0.75)


async def test_the_only_repository_of_an_account_gets_the_whole_limit(database, processes) -> None:
    await listed(database, LOUD)
    assert await written(processes[0], LOUD) == PER_MINUTE


async def test_replies_leave_capacity_for_reports(processes, clock) -> None:
    for _ in range(10):
        await written(processes[0], LOUD, REPLIES)
        clock.now += 60
    assert await written(processes[0], LOUD, REPLIES) == 0
    allowed = 0
    for _ in range(10):
        allowed += await written(processes[1], LOUD)
        clock.now += 60
    assert allowed >= PER_HOUR // 2
