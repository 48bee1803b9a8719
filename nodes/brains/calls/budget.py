"""The budget and the rate of a run's model calls: a call reserves its maximum, then returns the unused part."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from langgraph.errors import GraphBubbleUp

from nodes.context.brain import ModelError
from nodes.state import Usage

LONGEST_PAUSE = 60.0
"""The longest wait in seconds that a server may request, for runs that cannot be resumed later."""

Settle = Callable[[Usage], Awaitable[None]]
"""Records the actual usage of a call that was reserved, and returns the rest to the budget."""

Price = Callable[[str, int, int, int], int]
"""Returns the cost of a model's input, output and cached input tokens in millionths of a dollar."""


class Pace:
    """A token bucket that starts full: a burst of a minute's calls, then a steady rate."""

    def __init__(
        self,
        calls_per_minute: float,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._rate, self._size = calls_per_minute / 60, max(1.0, calls_per_minute)
        self._tokens, self._at = self._size, clock()
        self._clock, self._sleep = clock, sleep

    async def wait(self) -> None:
        """Return when a call may be made, in first-in, first-out order."""
        now = self._clock()
        self._tokens = min(self._size, self._tokens + (now - self._at) * self._rate) - 1
        self._at = now
        # A negative balance is a place in the queue: a later caller has a lower balance and waits longer.
        if self._tokens < 0:
            await self._sleep(-self._tokens / self._rate)

    async def pause(self, seconds: float) -> None:
        """Sleep for this many seconds."""
        await self._sleep(seconds)


class PostponedError(GraphBubbleUp):
    """The run must resume from its checkpoint; as a GraphBubbleUp it does not reach the error handlers of nodes."""

    def __init__(self, message: str, *, after: float) -> None:
        super().__init__(message)
        self.after = after
        """Seconds until the run may resume."""


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """A call that is about to be sent."""

    model: str
    input_tokens: int
    """Estimated tokens of the prompt."""
    output_tokens: int
    """Maximum tokens of the answer."""


class ModelBudget(Protocol):
    """The budget for the model calls of one run."""

    def begin(self, before: Usage) -> None:
        """Set what the run had spent before this process, according to its state."""

    async def reserve(self, call: PlannedCall) -> Settle:
        """Reserve the call, and return the function that settles it afterwards.

        Raises:
            ModelError: the budget is used up.
            PostponedError: the run must resume later.
        """

    async def pause(self, seconds: float, *, limited: bool) -> None:
        """Return after these seconds; ``limited`` if the server requested them because of its rate limit.

        Raises:
            ModelError: the wait is too long.
            PostponedError: the run must resume later.
        """


@dataclass(frozen=True, slots=True)
class RunLimits:
    """The most that a run may spend; None means no limit."""

    calls: int | None = None
    tokens: int | None = None
    cost: int | None = None
    """Millionths of a dollar."""


def no_price(*_tokens: object) -> int:
    """Return 0: no price is known."""
    return 0


class RunBudget:
    """The budget of a run in this process alone, at the process's rate."""

    def __init__(self, pace: Pace, most: RunLimits, price: Price = no_price) -> None:
        self._pace, self._most, self._price = pace, most, price
        self._before = Usage()
        self._calls = self._tokens = self._cost = 0

    def begin(self, before: Usage) -> None:
        """Set what the run had spent before this process, according to its state."""
        # Later calls repeat the usage of this process, which is already counted.
        if not self._calls:
            self._before = before

    async def reserve(self, call: PlannedCall) -> Settle:
        """Count a call at its highest cost, then wait for the rate limit; ModelError if it could exceed a limit."""
        tokens = call.input_tokens + call.output_tokens
        cost = self._price(call.model, call.input_tokens, call.output_tokens, 0)
        # Counted before the wait, so that calls that wait at the same time cannot exceed the budget together.
        self._check(call, tokens, cost)
        self._calls, self._tokens, self._cost = self._calls + 1, self._tokens + tokens, self._cost + cost
        await self._pace.wait()

        async def settle(usage: Usage) -> None:
            self._tokens += usage.input_tokens + usage.output_tokens - tokens
            self._cost += self._price(call.model, usage.input_tokens, usage.output_tokens, usage.cached_tokens) - cost

        return settle

    async def pause(self, seconds: float, *, limited: bool) -> None:
        """Sleep; ModelError if the server's rate limit requests more than LONGEST_PAUSE."""
        if limited and seconds > LONGEST_PAUSE:
            raise ModelError(f"the model's server asks to wait {seconds:.0f} s")
        await self._pace.pause(seconds)

    @property
    def cost(self) -> int:
        """The cost of this process's calls in millionths of a dollar."""
        return self._cost

    def _check(self, call: PlannedCall, tokens: int, cost: int) -> None:
        most, before = self._most, self._before
        spent_before = before.input_tokens + before.output_tokens
        # The state does not have the model of each earlier call, so the price of the present one is used.
        paid_before = self._price(call.model, before.input_tokens, before.output_tokens, before.cached_tokens)
        if most.calls is not None and before.calls + self._calls + 1 > most.calls:
            raise ModelError(f"the run's budget of {most.calls:,} model calls is spent")
        if most.tokens is not None and spent_before + self._tokens + tokens > most.tokens:
            raise ModelError(f"the run's budget of {most.tokens:,} model tokens is spent")
        if most.cost is not None and paid_before + self._cost + cost > most.cost:
            raise ModelError(f"the run's budget of ${most.cost / 1_000_000:.2f} for models is spent")
