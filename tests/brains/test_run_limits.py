"""A run's limits on calls, tokens and cost, in memory and in the store."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from bot.limits.ceilings import ceiling_of, cost
from bot.runs.model import model_settings
from bot.settings.environment import Settings
from bot.settings.retired import moved_values
from bot.store.databases.sqlite import SqliteStore
from bot.worker.budgets import SharedBudget, run_scope
from nodes.brains.calls.budget import ModelBudget, PlannedCall
from nodes.brains.calls.models import Models
from nodes.context.brain import ModelError
from nodes.state import Usage

CALL = PlannedCall("gpt-4o", 1_000, 500)
"""A thousand dollars per million input tokens, two thousand per million output tokens: at most two dollars."""
PRICES = "gpt-4o=1000/2000"
USED = Usage(calls=1, input_tokens=900, output_tokens=100)
SPENT = [
    pytest.param("calls=2", 2, "2 model calls", id="calls"),
    pytest.param("tokens=3000", 2, "3,000 model tokens", id="tokens"),
    pytest.param("cost=3.50", 2, "3.50", id="cost"),
    pytest.param("calls=9 tokens=3000 cost=99", 2, "3,000 model tokens", id="tokens-first"),
    pytest.param("calls=9 tokens=9000 cost=3.50", 2, "3.50", id="cost-first"),
    pytest.param("calls=1 tokens=3000 cost=3.50", 1, "1 model calls", id="calls-first"),
    pytest.param("none", 5, "", id="none"),
]


def alone(limits: str) -> ModelBudget:
    """Return the budget of ``triage run``."""
    settings = Settings(triage_limits_run=limits, triage_prices=PRICES, triage_model_calls_per_minute=100_000)
    return Models(model_settings(settings)).budget()


@pytest.fixture
async def stored(tmp_path: Path) -> AsyncIterator[Any]:
    """Yield the budget of servers, workers and the Action."""
    store = SqliteStore(tmp_path / "store.db")

    async def limited(_code: str, _message: str) -> None:
        pass

    def budget(limits: str) -> ModelBudget:
        prices = {"gpt-4o": (1_000.0, 2_000.0)}
        scope = run_scope("one", ceiling_of(moved_values("triage_limits_run", limits)))
        return SharedBudget(scope, (), store.usage, store.pace("models", 100_000), prices, limited)

    yield budget
    await store.aclose()


async def sent(budget: ModelBudget) -> tuple[int, str]:
    """Return how many of five calls are sent, and why the next is not."""
    for number in range(5):
        try:
            settle = await budget.reserve(CALL)
        except ModelError as error:
            return number, str(error)
        await settle(USED)
    return 5, ""


@pytest.mark.parametrize(("limits", "calls", "why"), SPENT)
async def test_every_limit_holds_in_this_process_and_in_the_store(
    stored: Any, limits: str, calls: int, why: str
) -> None:
    for budget in (alone(limits), stored(limits)):
        number, error = await sent(budget)
        assert number == calls
        assert why in error


async def test_usage_before_a_resume_counts() -> None:
    before = Usage(calls=1, input_tokens=900, output_tokens=100)
    for limits in ("calls=1", "tokens=2000", "cost=2.50"):
        budget = alone(limits)
        budget.begin(before)
        with pytest.raises(ModelError, match="budget"):
            await budget.reserve(CALL)


async def test_cached_tokens_have_their_own_price(stored: Any) -> None:
    used = Usage(calls=1, input_tokens=900, output_tokens=100, cached_tokens=800)
    settings = Settings(
        triage_limits_run="cost=2.80", triage_prices="gpt-4o=1000/2000/100", triage_model_calls_per_minute=100_000
    )
    cheap = Models(model_settings(settings)).budget()
    # 0.38 dollars a call instead of 1.10: three calls fit with the reservation of 2 dollars for the next.
    for budget, calls in ((cheap, 3), (alone("cost=2.80"), 1), (stored("cost=2.80"), 1)):
        number = 0
        while number < 5:
            try:
                settle = await budget.reserve(CALL)
            except ModelError:
                break
            await settle(used)
            number += 1
        assert number == calls


def test_cached_tokens_without_a_price_cost_the_same() -> None:
    assert cost({"m": (1.0, 2.0)}, "m", 100, 10, 90) == 120
    assert cost({"m": (1.0, 2.0, 0.5)}, "m", 100, 10, 90) == 75
    assert cost({"m": (1.0, 2.0, 0.5)}, "m", 100, 10, 900) == 70


def test_the_store_uses_the_same_price_of_a_call() -> None:
    settings = model_settings(Settings(triage_prices=PRICES))
    assert settings.price("gpt-4o", 10, 5, 0) == cost({"gpt-4o": (1_000.0, 2_000.0)}, "gpt-4o", 10, 5) == 20_000
