"""The budget for a run's model calls: reserved before a call is sent, with the unused part returned afterwards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from langgraph.errors import GraphBubbleUp

from nodes.context import ModelError
from nodes.state import Usage

if TYPE_CHECKING:
    from nodes.brains.pace import Pace

LONGEST_PAUSE = 60.0
"""The longest wait in seconds that a server may request, for runs that cannot be resumed later."""


class PostponedError(GraphBubbleUp):
    """The run must resume later from its checkpoint; nothing of the current node was stored.

    It derives from GraphBubbleUp because LangGraph lets that pass the error handlers of nodes.
    """

    def __init__(self, message: str, *, after: float) -> None:
        super().__init__(message)
        self.after = after
        """Seconds until the run may resume."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call that is about to be sent."""

    model: str
    input_tokens: int
    """Estimated."""
    output_tokens: int
    """The maximum."""


class Reserved(Protocol):
    """The budget reserved for one call."""

    async def settle(self, usage: Usage) -> None:
        """Record the actual usage, and return the rest to the budget."""


class ModelBudget(Protocol):
    """Pays for the calls of one run."""

    def begin(self, calls: int) -> None:
        """Set the number of calls that the run had made before, according to its state."""

    async def reserve(self, call: Call) -> Reserved:
        """Return when the call has been counted and may be sent.

        Raises:
            ModelError: the budget is used up.
            PostponedError: the run must resume later.
        """

    async def pause(self, seconds: float, *, limited: bool) -> None:
        """Return when the server may be asked again.

        Args:
            seconds: how long to wait.
            limited: whether the server requested the wait because of its rate limit.

        Raises:
            ModelError: the wait is too long.
            PostponedError: the run must resume later.
        """


class RunBudget:
    """The budget of a run in this process alone: a number of calls, at the process's rate."""

    def __init__(self, pace: Pace, most: int) -> None:
        self._pace = pace
        self._most = most
        self._calls = 0

    def begin(self, calls: int) -> None:
        """Set the number of calls that the run had made before, according to its state."""
        self._calls = max(self._calls, calls)

    async def reserve(self, call: Call) -> RunBudget:  # noqa: ARG002  only calls are counted
        """Count a call, then wait for the rate limit.

        Raises:
            ModelError: the run has used all its calls.
        """
        if self._calls >= self._most:
            raise ModelError(f"the run's budget of {self._most} model calls is spent")
        self._calls += 1
        await self._pace.wait()
        return self

    async def settle(self, usage: Usage) -> None:
        """Do nothing: this budget counts calls, and their usage does not matter."""

    async def pause(self, seconds: float, *, limited: bool) -> None:
        """Sleep, unless the server's rate limit requests more than LONGEST_PAUSE.

        Raises:
            ModelError: the requested wait is too long.
        """
        if limited and seconds > LONGEST_PAUSE:
            raise ModelError(f"the model's server asks to wait {seconds:.0f} s")
        await self._pace.pause(seconds)
