"""Store the steps and the evidence of a run while it executes, for the web pages and for a resume."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict

from bot.store.databases.database import Connection, Database, Table, transaction
from nodes.evidence import Evidence
from nodes.state import TraceEntry

LOOKS = 6
"""Maximum number of a model's lookups stored per step; the run's result contains all of them."""
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


def load(text: str) -> Visit:
    """Parse a stored visit."""
    return Visit.model_validate_json(text)


class Event(NamedTuple):
    """One row."""

    seq: int
    """From 1."""
    at: float
    """Seconds since 1970."""
    body: str
    """JSON of a ``bot.store.runs.run_events.Visit``."""


class RunEvents(Table):
    """The events of one run, in order."""

    def __init__(self, database: Database, run: str, clock: Callable[[], float] | None = None) -> None:
        super().__init__(database, clock)
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

    async def after(self, seq: int) -> list[Event]:
        """Return the events with a number above ``seq``."""
        statement = "SELECT seq, at, body FROM run_events WHERE run = ? AND seq > ? ORDER BY seq"
        return [Event(*row) for row in await self._rows(statement, (self._run, seq))]


class RunEvidence(Table):
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
        statement = """
            INSERT INTO evidence (run, hash, body) VALUES (?, ?, ?)
            ON CONFLICT (run, hash) DO UPDATE SET body = excluded.body
        """
        await self._database.do(lambda db: db.executemany(statement, rows).rowcount)
        self._known.update((item.key, item) for item in evidence)

    async def get(self, keys: Sequence[str]) -> Mapping[str, Evidence]:
        """Return the evidence of these keys; a key without stored evidence is absent."""
        if not self._known.keys() >= set(keys):  # stored before a crash
            statement = "SELECT hash, body FROM evidence WHERE run = ?"
            rows = await self._rows(statement, (self._run,))
            self._known |= {key: Evidence.model_validate_json(body) for key, body in rows if key not in self._known}
        return {key: self._known[key] for key in keys if key in self._known}

    async def all(self) -> list[Evidence]:
        """Return all evidence of the run, ordered by hash."""
        statement = "SELECT body FROM evidence WHERE run = ? ORDER BY hash"
        return [Evidence.model_validate_json(body) for (body,) in await self._rows(statement, (self._run,))]
