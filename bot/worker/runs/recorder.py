"""Stores the steps of a run while it runs, without delaying it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bot.errors import BotError
from bot.store.runs.run_events import RunEvents, Visit, dump
from nodes.run import Step, Watch

PACE = 0.5
"""Seconds between two writes: a commit takes a few milliseconds, as long as most nodes of a run without a model."""

logger = logging.getLogger(__name__)


@asynccontextmanager
async def recording(events: RunEvents) -> AsyncIterator[Watch]:
    """Store the run's steps periodically and at the end. A failure to store them never stops a run."""
    recorder, over = _Recorder(events), asyncio.Event()
    writing = asyncio.create_task(recorder.keep_writing(over))
    try:
        yield recorder.note
    finally:
        over.set()
        await writing


class _Recorder:
    """Buffer of steps that are not stored yet. A node that begins and ends between two writes is written once."""

    def __init__(self, events: RunEvents) -> None:
        self._events = events
        self._began: dict[str, float] = {}
        self._waiting: dict[str, Visit] = {}

    def note(self, step: Step) -> None:
        """Buffer a step."""
        # The store's clock, because pages compare these times with those of other processes.
        now = self._events.clock()
        began = self._began.setdefault(step.id, now)
        # Moved to the end: readers expect ends in the order in which they happened.
        self._waiting.pop(step.id, None)
        self._waiting[step.id] = Visit(
            id=step.id[:8], node=step.node, began=began, ended=now if step.ended else None, trace=step.trace
        )

    async def keep_writing(self, over: asyncio.Event) -> None:
        """Write periodically until the run is over, then write the rest."""
        while not over.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(over.wait(), PACE)
            await self._write()
        await self._write()  # the steps that were noted during the write above, if the run ended then

    async def _write(self) -> None:
        """Write the buffer. If the store is unavailable, the steps are dropped and a page shows fewer."""
        # Taken before the await, because the graph adds steps while the store writes these.
        waiting, self._waiting = self._waiting, {}
        if not waiting:
            return
        try:
            await self._events.add(*map(dump, waiting.values()))
        except BotError as error:
            logger.warning("steps of a run were not stored: %s", error, extra={"action": "steps_lost"})
