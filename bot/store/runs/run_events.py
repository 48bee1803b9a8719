"""Store the steps and the evidence of a run while it executes, for the web pages and for a resume."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from bot.errors import BotError
from bot.store.databases.database import Connection, Database, TableGroup, transaction, upsert
from nodes.evidence import Evidence
from nodes.state import TraceEntry

if TYPE_CHECKING:
    from nodes.run import Step, Watch

logger = logging.getLogger(__name__)

LOOKS = 6
"""Maximum number of a model's lookups stored per step; the run's result contains all of them."""
PACE = 0.5
"""Seconds between two writes: a commit takes a few milliseconds, as long as most nodes of a run without a model."""
MAX_EVENTS = 400
"""Limit on the events of one run: about twice what the longest run produces within its own limits."""
# The statement chooses the number itself, so that a run has no gaps and at most ``MAX_EVENTS`` events.
_ADD = """
INSERT INTO run_events (run, seq, at, body)
SELECT :run, last + 1, :at, :body
FROM (SELECT coalesce(max(seq), 0) AS last FROM run_events WHERE run = :run) AS known WHERE last < :most
"""


class Visit(BaseModel):
    """The start or end of a node's execution; a node that ends immediately is stored only at its end."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    id: str
    """The same at the start and at the end."""
    node: str
    began: float
    """Seconds since 1970."""
    ended: float | None = None
    trace: tuple[TraceEntry, ...] = ()
    """The entries it added to the run's trace; empty while it waits for a person."""


def dump(visit: Visit) -> str:
    """Serialize a visit for the store, with at most `LOOKS` lookups per trace entry."""
    cut = tuple(entry.model_copy(update={"looks": entry.looks[:LOOKS]}) for entry in visit.trace)
    return visit.model_copy(update={"trace": cut}).model_dump_json(exclude_defaults=True)


class RunEvents(TableGroup):
    """The events of one run, in order."""

    def __init__(self, database: Database, run: str) -> None:
        super().__init__(database)
        self._run = run
        self.clock = self._clock
        """Seconds since 1970, the same for all processes that share the store."""

    @transaction
    def add(self, db: Connection, *bodies: str) -> None:
        """Append events, as JSON, in one transaction; events beyond ``MAX_EVENTS`` are dropped."""
        now = self.clock()
        for body in bodies:
            db.execute(_ADD, {"run": self._run, "at": now, "body": body, "most": MAX_EVENTS})
        # Live pages find the runs that changed by ``changed_at``.
        issue_key, _, number = self._run.rpartition(":")
        changed = "UPDATE runs SET changed_at = ? WHERE issue_key = ? AND run_no = ?"
        db.execute(changed, (now, issue_key, int(number)))

    async def all(self) -> list[str]:
        """Return the events, as JSON of a ``Visit``."""
        statement = "SELECT body FROM run_events WHERE run = ? ORDER BY seq"
        return [body for (body,) in await self._rows(statement, (self._run,))]


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
        began, ended = self._began.setdefault(step.id, now), now if step.ended else None
        # Moved to the end: readers expect ends in the order in which they happened.
        self._waiting.pop(step.id, None)
        self._waiting[step.id] = Visit(id=step.id[:8], node=step.node, began=began, ended=ended, trace=step.trace)

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


class RunEvidence(TableGroup):
    """The evidence of one run; implements the graph's evidence port."""

    def __init__(self, database: Database, run: str) -> None:
        super().__init__(database)
        self._run = run
        self._known: dict[str, Evidence] = {}

    async def put(self, evidence: Sequence[Evidence]) -> None:
        """Store evidence by its key; idempotent."""
        if not evidence:
            return
        rows = [(self._run, item.key, item.model_dump_json()) for item in evidence]
        statement = upsert("evidence", "run, hash", "body")
        await self._database.do(lambda db: db.executemany(statement, rows).rowcount)
        self._known.update((item.key, item) for item in evidence)

    async def get(self, keys: Sequence[str]) -> Mapping[str, Evidence]:
        """Return the evidence of these keys; a key without stored evidence is absent."""
        if not self._known.keys() >= set(keys):  # stored before a crash
            rows = await self._rows("SELECT hash, body FROM evidence WHERE run = ?", (self._run,))
            self._known |= {key: Evidence.model_validate_json(body) for key, body in rows if key not in self._known}
        return {key: self._known[key] for key in keys if key in self._known}

    async def all(self) -> list[Evidence]:
        """Return all evidence of the run, ordered by hash."""
        statement = "SELECT body FROM evidence WHERE run = ? ORDER BY hash"
        return [Evidence.model_validate_json(body) for (body,) in await self._rows(statement, (self._run,))]
