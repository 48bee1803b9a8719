"""Charges one run's model calls to budgets that all runs share, and paces all calls by one queue."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass

from bot.ceilings import Amount, Prices, Scope, cost
from bot.metrics.measures import MODEL_COST
from bot.store.pace import SHORTEST_TO_REFUSE, StoredPace
from bot.store.usage import Usage as Counters
from nodes.brains.budget import Call, PostponedError
from nodes.context import ModelError
from nodes.state import Usage

MOST_POSTPONED = 20
"""Times that a run may be postponed for its model. After that rules judge, so that every run ends."""
LONGEST_POSTPONED = 3_600.0
"""Seconds. If a model asks for a longer wait, rules judge."""


@dataclass(frozen=True, slots=True)
class SharedBudget:
    """A run's model budget whose counters are in the store."""

    run: Scope
    day: Sequence[Scope]
    """Further scopes that the run's calls count in."""
    counters: Counters
    pace: StoredPace
    prices: Prices
    limited: Callable[[str, str], Awaitable[None]]
    """Called with the code of a limit that was reached and a description."""

    def begin(self, before: Usage) -> None:
        """Do nothing: the store has what the run spent."""

    async def reserve(self, call: Call) -> _Reserved:
        """Reserve a call and its highest possible cost, then wait for its turn if the wait is short.

        Raises:
            ModelError: A budget is used up.
            PostponedError: The queue for the model is too long.
        """
        amount = self.amount(call.model, call.input_tokens, call.output_tokens)
        reached = await self.counters.reserve(self.scopes, amount)
        if reached is not None:
            await self.limited(reached.code, f"{reached}; rules judge")
            raise ModelError(str(reached))
        async with self._refund_on_error(amount):
            turn = await self.pace.take()
            if not turn.granted:
                await self.limited("model.pace", "the rate limit for model calls is reached")
                await self._postpone("waiting for a turn to call the model", turn.wait)
            await asyncio.sleep(turn.wait)
        return _Reserved(self, call.model, amount)

    async def pause(self, seconds: float, *, limited: bool) -> None:
        """Sleep briefly; postpone the run for a longer pause.

        Args:
            seconds: The pause that the model's server asked for.
            limited: The server enforces a rate limit, so calls of all runs pause.

        Raises:
            ModelError: The pause is too long, or the run was postponed too often.
            PostponedError: The run continues later.
        """
        if limited:
            await self.pace.close(seconds)
        if seconds > SHORTEST_TO_REFUSE:
            await self.limited("model.busy", f"the model's server asks to wait {seconds:.0f} s")
            await self._postpone(f"the model's server asks to wait {seconds:.0f} s", seconds)
        await asyncio.sleep(seconds)

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """All scopes in which a call counts, the smallest first."""
        return (self.run, *self.day)

    async def _postpone(self, why: str, seconds: float) -> None:
        if seconds > LONGEST_POSTPONED or await self.counters.postpone(self.run) > MOST_POSTPONED:
            raise ModelError(f"{why}; the wait is too long, or the run was postponed too often")
        raise PostponedError(why, after=seconds)

    def amount(self, model: str, input_tokens: int, output_tokens: int) -> Amount:
        """The amount of a call with so many tokens."""
        price = cost(self.prices, model, input_tokens, output_tokens)
        return Amount(calls=1, tokens=input_tokens + output_tokens, cost=price)

    @contextlib.asynccontextmanager
    async def _refund_on_error(self, amount: Amount) -> AsyncIterator[None]:
        try:
            yield
        except BaseException:  # a call that was not sent costs nothing, whatever prevented it (cancellation included)
            await self.counters.refund(self.scopes, amount)
            raise


@dataclass(frozen=True, slots=True)
class _Reserved:
    budget: SharedBudget
    model: str
    amount: Amount

    async def settle(self, usage: Usage) -> None:
        """Replace the reserved amount by the actual one: return the difference, or count it if the call cost more."""
        spent = self.budget.amount(self.model, usage.input_tokens, usage.output_tokens)
        MODEL_COST.labels(self.model).inc(spent.cost / 1_000_000)
        await self.budget.counters.refund(self.budget.scopes, self.amount - spent)
