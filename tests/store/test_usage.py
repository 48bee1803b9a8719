"""Usage is counted in every scope or in none, by any process."""

from __future__ import annotations

import asyncio

import pytest

from bot.limits.ceilings import Amount, Ceiling, ReachedCeiling, Scope
from bot.ports import IssueRef
from bot.store.runs.rows import ListedRun
from bot.store.runs.usage import SHORTEST_TO_REFUSE, StoredPace, read_spent
from bot.store.tables import Store

REF = IssueRef("github.com", 7, 9, "octo", "parser", 5)
KEY = REF.repository.key
CALL = Amount(calls=1, tokens=40, cost=7)


def day(**most: int) -> Scope:
    return Scope("repository", KEY, "2026-01-31", Ceiling(**most))


async def test_unused_budget_is_returned(store: Store) -> None:
    scope = day(tokens=100)
    assert await store.usage.reserve((scope,), Amount(calls=1, tokens=60)) is None
    assert await store.usage.reserve((scope,), Amount(calls=1, tokens=60)) == ReachedCeiling(
        "repository", "tokens", 100
    )
    await store.usage.refund((scope,), Amount(tokens=50))
    assert await store.usage.reserve((scope,), Amount(calls=1, tokens=60)) is None
    assert await store._database.read(lambda db: read_spent(db, scope)) == Amount(calls=2, tokens=70)


@pytest.mark.parametrize(
    ("most", "what"),
    [
        pytest.param({"calls": 2}, "calls", id="calls"),
        pytest.param({"tokens": 100}, "tokens", id="tokens"),
        pytest.param({"cost": 14}, "cost", id="cost"),
    ],
)
async def test_a_budget_is_exact_under_concurrent_calls(store: Store, most: dict, what: str) -> None:
    scopes = (Scope("run", f"{REF.key}:1", "run"), day(**most))
    reserved = await asyncio.gather(*(store.usage.reserve(scopes, CALL) for _ in range(8)))
    assert reserved.count(None) == 2
    assert {reached.code for reached in reserved if reached} == {f"repository.{what}"}
    assert await store._database.read(lambda db: read_spent(db, scopes[0])) == Amount(calls=2, tokens=80, cost=14)


async def test_a_new_run_counts_as_an_issue_and_one_that_continues_does_not(store: Store) -> None:
    runs, scope = store.for_issue(REF).runs, day(issues=1)
    first = await runs.begin((scope,))
    assert isinstance(first, ListedRun)
    assert await runs.begin((scope,)) == first
    assert await runs.begin((scope,), leave=first.number) == ReachedCeiling("repository", "issues", 1)
    assert await runs.last() == first


async def test_the_queue_for_models_is_one_for_all(store: Store) -> None:
    paces = [store.pace("models", 30), store.pace("models", 30)]
    turns = [await paces[n % 2].take() for n in range(45)]
    waits = [turn.wait for turn in turns if turn.granted]
    assert waits[:30] == pytest.approx([0.0] * 30, abs=0.5)
    assert waits[30:] == pytest.approx([2.0 * n for n in range(1, len(waits) - 29)], abs=1.5)
    refused = [turn.wait for turn in turns if not turn.granted]
    assert len(waits) + len(refused) == 45
    assert all(wait > SHORTEST_TO_REFUSE - 1.5 for wait in refused)
    assert refused == sorted(refused)
    assert (await StoredPace(store._database, "others", 30).take()).wait == 0.0


async def test_a_pause_that_a_model_requests_applies_to_all_processes(store: Store) -> None:
    await store.pace("models", 600).close(300.0)
    turn = await store.pace("models", 600).take()
    assert not turn.granted
    assert turn.wait == pytest.approx(300, abs=5)


async def test_a_limit_is_reported_once_a_day_in_a_repository(store: Store) -> None:
    limited = store.for_repository(REF.repository).limited
    assert await limited.unreported(REF.key) == ()
    await limited.note("repository.tokens")
    await limited.note("repository.tokens")
    assert await limited.unreported(REF.key) == ("repository.tokens",)
    await limited.note("github.quiet")
    assert await limited.unreported(f"{KEY}#6") == ()
    assert await limited.unreported(REF.key) == ("github.quiet", "repository.tokens")
    assert await limited.today() == {"github.quiet": 1, "repository.tokens": 2}
