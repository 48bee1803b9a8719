"""What a run did, step by step, for the pages that show it."""

from __future__ import annotations

import time
from collections.abc import Callable

from bot.store.database import Database, Value


class RunEvents:
    """The events of one run, in order."""

    def __init__(self, database: Database, run: str, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._run = run
        self._clock = clock

    async def add(self, body: str) -> None:
        """Append one, as JSON."""
        statement = """
            INSERT INTO run_events (run, seq, at, body)
            SELECT :run, coalesce(max(seq), 0) + 1, :at, :body FROM run_events WHERE run = :run
        """
        given: dict[str, Value] = {"run": self._run, "at": self._clock(), "body": body}
        await self._database.do(lambda db: db.execute(statement, given).rowcount)

    async def after(self, seq: int) -> list[tuple[int, str]]:
        """Those with a number above ``seq``."""
        statement = "SELECT seq, body FROM run_events WHERE run = ? AND seq > ? ORDER BY seq"
        return await self._database.read(lambda db: db.execute(statement, (self._run, seq)).fetchall())
