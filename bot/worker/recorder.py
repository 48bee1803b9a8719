"""Write down what a run does while it does it, without making it wait."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bot.errors import BotError
from bot.steps import Visit, dump
from bot.store.run_events import RunEvents
from nodes.run import Step, Watch

PACE = 0.5
"""Seconds between two writes: a commit costs a few milliseconds, and most nodes of a run without a model no more."""

logger = logging.getLogger(__name__)


@asynccontextmanager
async def recording(events: RunEvents) -> AsyncIterator[Watch]:
    """Store what the run is said to do, now and then and at the end; what cannot be stored never stops a run."""
    recorder, over = _Recorder(events), asyncio.Event()
    writing = asyncio.create_task(recorder.keep_writing(over))
    try:
        yield recorder.note
    finally:
        over.set()
        await writing


class _Recorder:
    """What was not written yet. A node that begins and ends between two writes is written once."""

    def __init__(self, events: RunEvents) -> None:
        self._events = events
        self._began: dict[str, float] = {}
        self._waiting: dict[str, Visit] = {}

    def note(self, step: Step) -> None:
        """Take a step in."""
        now = self._events.clock()
        began = self._began.setdefault(step.id, now)
        # Put last: ends are read in the order in which they happened.
        self._waiting.pop(step.id, None)
        self._waiting[step.id] = Visit(
            id=step.id[:8], node=step.node, began=began, ended=now if step.ended else None, trace=step.trace
        )

    async def keep_writing(self, over: asyncio.Event) -> None:
        """Write until it is over, and what is left then."""
        while not over.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(over.wait(), PACE)
            await self._write()

    async def _write(self) -> None:
        """Write what waits; a page that shows less is the price of a store that is away."""
        waiting, self._waiting = self._waiting, {}
        if not waiting:
            return
        try:
            await self._events.add(*map(dump, waiting.values()))
        except BotError as error:
            logger.warning("steps of a run were not stored: %s", error, extra={"action": "steps_lost"})
