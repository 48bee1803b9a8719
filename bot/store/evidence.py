"""Store the evidence that a run gathered, so that it survives a crash."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bot.store.database import Database
from nodes.evidence import Evidence


class RunEvidence:
    """The evidence of one run; implements the graph's evidence port."""

    def __init__(self, database: Database, run: str) -> None:
        self._database = database
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
            rows = await self._database.read(lambda db: db.execute(statement, (self._run,)).fetchall())
            self._known |= {key: Evidence.model_validate_json(body) for key, body in rows if key not in self._known}
        return {key: self._known[key] for key in keys if key in self._known}

    async def all(self) -> list[Evidence]:
        """Return all evidence of the run, ordered by hash."""
        statement = "SELECT body FROM evidence WHERE run = ? ORDER BY hash"
        rows = await self._database.read(lambda db: db.execute(statement, (self._run,)).fetchall())
        return [Evidence.model_validate_json(body) for (body,) in rows]
