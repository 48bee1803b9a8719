"""What a run's model calls may cost: set aside before a call is sent, given back where it comes to less."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from langgraph.errors import GraphBubbleUp

from nodes.context import ModelError
from nodes.state import Usage

if TYPE_CHECKING:
    from nodes.brains.pace import Pace

LONGEST_PAUSE = 60.0
"""Seconds that a server may name and is believed, where nobody can go on later."""


class PostponedError(GraphBubbleUp):
    """The run is to go on later, from its checkpoint; nothing of the node at hand was kept.

    LangGraph lets it through, past what is done about nodes that fail.
    """

    def __init__(self, message: str, *, after: float) -> None:
        super().__init__(message)
        self.after = after
        """Seconds."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call that is about to be sent."""

    model: str
    input_tokens: int
    """Estimated."""
    output_tokens: int
    """At the most."""


class Reserved(Protocol):
    """What was set aside for one call."""

    async def settle(self, usage: Usage) -> None:
        """Say what it came to; the rest is given back."""


class Purse(Protocol):
    """Pays for the calls of one run."""

    def begin(self, calls: int) -> None:
        """So many calls the run had made before, as its state says."""

    async def reserve(self, call: Call) -> Reserved:
        """Return when the call may be sent, and has been counted.

        Raises:
            ModelError: nothing is left to spend.
            PostponedError: later.
        """

    async def pause(self, seconds: float, *, limited: bool) -> None:
        """Return when the server may be asked again.

        Args:
            seconds: to wait.
            limited: the server named them because it was asked too often.

        Raises:
            ModelError: that is too long.
            PostponedError: later.
        """


class RunPurse:
    """For runs of this process alone: so many calls, at its pace."""

    def __init__(self, pace: Pace, most: int) -> None:
        self._pace = pace
        self._most = most
        self._calls = 0

    def begin(self, calls: int) -> None:
        """So many calls the run had made before, as its state says."""
        self._calls = max(self._calls, calls)

    async def reserve(self, call: Call) -> RunPurse:  # noqa: ARG002  only calls are counted
        """Count a call, then wait for its turn.

        Raises:
            ModelError: the run has had its calls.
        """
        if self._calls >= self._most:
            raise ModelError(f"the run's budget of {self._most} model calls is spent")
        self._calls += 1
        await self._pace.wait()
        return self

    async def settle(self, usage: Usage) -> None:
        """A call is a call, whatever it came to."""

    async def pause(self, seconds: float, *, limited: bool) -> None:
        """Sleep, unless it takes minutes.

        Raises:
            ModelError: it does.
        """
        if limited and seconds > LONGEST_PAUSE:
            raise ModelError(f"the model's server asks to wait {seconds:.0f} s")
        await self._pace.pause(seconds)
