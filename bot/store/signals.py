"""Store what people said in commands: rows are appended, never changed, and read by the run at its next decision."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from bot.ports import SignalKind
from bot.store.database import Connection, Database
from nodes.context import Signal
from nodes.state import CORRECTION

PACE = 0.5
"""Minimum seconds between two queries of a run. A signal that its last moments miss starts another run."""
_READ = "SELECT number, kind, text, actor, url FROM signals WHERE issue_key = ? AND number > ?"


@dataclass(frozen=True, slots=True)
class StoredSignal:
    """One row."""

    number: int
    """Increases with time."""
    kind: SignalKind
    text: str
    actor: str
    url: str

    @property
    def instruction(self) -> str:
        """The instruction that a new run receives, at most 600 characters."""
        return f"{CORRECTION if self.kind == 'correction' else ''}{self.text}"[:600]


class IssueSignals:
    """The signals of one issue; implements the graph's signal port."""

    def __init__(self, database: Database, issue_key: str) -> None:
        self._database = database
        self._key = issue_key
        self._looked = float("-inf")

    async def unread(self, after: int) -> Sequence[Signal]:
        """Return redirects numbered above ``after``, oldest first; none within ``PACE`` seconds of the last query."""
        now = time.monotonic()
        if now - self._looked < PACE:
            return ()
        self._looked = now
        return [Signal(one.number, "redirect", one.text) for one in await self.since(after) if one.kind == "redirect"]

    async def since(self, after: int) -> list[StoredSignal]:
        """Return all signals with a number above ``after``, oldest first."""
        return await self._database.read(lambda db: read_signals(db, self._key, after))


def read_signals(db: Connection, issue_key: str, after: int) -> list[StoredSignal]:
    """Read signals within a larger transaction."""
    return [StoredSignal(*row) for row in db.execute(f"{_READ} ORDER BY number", (issue_key, after))]
