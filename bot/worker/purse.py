"""Pays for one run's model calls from budgets that everybody shares, at a pace that everybody keeps."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass

from bot.ceilings import Amount, Prices, Scope, cost
from bot.metrics.measures import MODEL_COST
from bot.store.pace import SHORTEST_TO_REFUSE, StoredPace
from bot.store.usage import Usage as Counters
from nodes.brains.purse import Call, PostponedError
from nodes.context import ModelError
from nodes.state import Usage

MOST_POSTPONED = 20
"""Times that a run is put off for its model; then rules judge, so that every run ends."""
LONGEST_POSTPONED = 3_600.0
"""Seconds; for a model that asks for more, rules judge."""


@dataclass(frozen=True, slots=True)
class SharedPurse:
    """A purse whose money is in the store."""

    run: Scope
    day: Sequence[Scope]
    """What the run's calls are counted in besides."""
    counters: Counters
    pace: StoredPace
    prices: Prices
    limited: Callable[[str, str], Awaitable[None]]
    """Told which limit was met, by its code, and what that means."""

    def begin(self, calls: int) -> None:
        """The store knows it better."""

    async def reserve(self, call: Call) -> _Reserved:
        """Count a call and the most that it may cost, then wait for its turn, if that is soon.

        Raises:
            ModelError: a budget is spent.
            PostponedError: many others are before it.
        """
        amount = self.amount(call.model, call.input_tokens, call.output_tokens)
        reached = await self.counters.reserve(self.scopes, amount)
        if reached is not None:
            await self.limited(reached.code, f"{reached}; rules judge")
            raise ModelError(str(reached))
        async with self._given_back(amount):
            turn = await self.pace.take()
            if not turn.granted:
                await self.limited("model.pace", "models are called as often as they may be")
                await self._postpone("waiting for a turn to call the model", turn.wait)
            await asyncio.sleep(turn.wait)
        return _Reserved(self, call.model, amount)

    async def pause(self, seconds: float, *, limited: bool) -> None:
        """Sleep for a moment; what takes longer is waited for elsewhere, by everybody if it is a limit.

        Raises:
            ModelError: that is too long, or was too often.
            PostponedError: later.
        """
        if limited:
            await self.pace.close(seconds)
        if seconds > SHORTEST_TO_REFUSE:
            await self.limited("model.busy", f"the model's server asks to wait {seconds:.0f} s")
            await self._postpone(f"the model's server asks to wait {seconds:.0f} s", seconds)
        await asyncio.sleep(seconds)

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """Everything in which a call counts, the smallest first."""
        return (self.run, *self.day)

    async def _postpone(self, why: str, seconds: float) -> None:
        if seconds > LONGEST_POSTPONED or await self.counters.postpone(self.run) > MOST_POSTPONED:
            raise ModelError(f"{why}; that was too long, or too often")
        raise PostponedError(why, after=seconds)

    def amount(self, model: str, input_tokens: int, output_tokens: int) -> Amount:
        """What a call with so many tokens comes to."""
        price = cost(self.prices, model, input_tokens, output_tokens)
        return Amount(calls=1, tokens=input_tokens + output_tokens, cost=price)

    @contextlib.asynccontextmanager
    async def _given_back(self, amount: Amount) -> AsyncIterator[None]:
        try:
            yield
        except BaseException:  # a call that was never sent costs nothing, whatever kept it from being sent
            await self.counters.give_back(self.scopes, amount)
            raise


@dataclass(frozen=True, slots=True)
class _Reserved:
    purse: SharedPurse
    model: str
    amount: Amount

    async def settle(self, usage: Usage) -> None:
        """Give back what a call did not come to, or count what it came to besides."""
        spent = self.purse.amount(self.model, usage.input_tokens, usage.output_tokens)
        MODEL_COST.labels(self.model).inc(spent.cost / 1_000_000)
        await self.purse.counters.give_back(self.purse.scopes, self.amount - spent)
