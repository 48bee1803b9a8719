"""Store what a run does, step by step while it runs, for the web pages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from bot.store.database import Connection, Database

MOST = 400
"""Limit on the events of one run: about twice what the longest run produces within its own limits."""
_ADD = """
INSERT INTO run_events (run, seq, at, body)
SELECT :run, last + 1, :at, :body
FROM (SELECT coalesce(max(seq), 0) AS last FROM run_events WHERE run = :run) AS known WHERE last < :most
"""


class Event(NamedTuple):
    """One row."""

    seq: int
    """From 1."""
    at: float
    """Seconds since 1970."""
    body: str
    """JSON of a ``bot.steps.Visit``."""


class RunEvents:
    """The events of one run, in order."""

    def __init__(self, database: Database, run: str, clock: Callable[[], float] | None = None) -> None:
        self._database = database
        self._run = run
        self.clock = clock or database.clock
        """Seconds since 1970, the same for all processes that share the store."""

    async def add(self, *bodies: str) -> None:
        """Append events, as JSON, in one transaction; events beyond ``MOST`` are dropped."""
        now = self.clock()
        await self._database.do(lambda db: _add(db, self._run, bodies, now))

    async def after(self, seq: int) -> list[Event]:
        """Return the events with a number above ``seq``."""
        statement = "SELECT seq, at, body FROM run_events WHERE run = ? AND seq > ? ORDER BY seq"
        rows = await self._database.read(lambda db: db.execute(statement, (self._run, seq)).fetchall())
        return [Event(*row) for row in rows]


def _add(db: Connection, run: str, bodies: Sequence[str], now: float) -> None:
    for body in bodies:
        db.execute(_ADD, {"run": run, "at": now, "body": body, "most": MOST})
    # Live pages find the runs that changed by ``changed_at``.
    issue_key, _, number = run.rpartition(":")
    changed = "UPDATE runs SET changed_at = ? WHERE issue_key = ? AND run_no = ?"
    db.execute(changed, (now, issue_key, int(number)))
