"""Store people's instructions and decisions: signals of commands, labels, and confirmed or denied duplicates."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from bot.ports import Relation, SignalKind
from bot.store.databases.database import Connection, Database, Keyed
from nodes.context import Signal
from nodes.state import CORRECTION

LABELLED = """
INSERT INTO label_actors (issue_key, label, added, actor, by_bot, at) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (issue_key, label) DO UPDATE SET added = excluded.added, actor = excluded.actor, by_bot = excluded.by_bot,
    at = excluded.at
WHERE (label_actors.added, label_actors.actor, label_actors.by_bot)
    <> (excluded.added, excluded.actor, excluded.by_bot)
"""
"""The latest change wins; a repeated delivery of it changes nothing, not even its time."""
PACE = 0.5
"""Minimum seconds between two queries of a run. A signal after the last query of a run starts another run."""
_READ = "SELECT number, kind, text, actor, url FROM signals WHERE issue_key = ? AND number > ?"


class People(Keyed):
    """People's decisions on one issue."""

    async def labelled(self, label: str, actor: str, *, added: bool, by_bot: bool = False) -> None:
        """Record that a person, or a bot that counts as one, added or removed a label; the latest change wins."""
        given = (self._key, label, int(added), actor, int(by_bot), self._database.clock())
        await self._change(LABELLED, given)

    async def label_changes(self) -> dict[str, bool]:
        """Return the labels that a person added (True) or removed (False). The App never changes them."""
        return await self._database.read(lambda db: read_label_changes(db, self._key))

    async def relations(self) -> tuple[Relation, ...]:
        """Return the duplicates that people confirmed or denied."""
        return await self._database.read(lambda db: read_relations(db, self._key))


def read_label_changes(db: Connection, issue_key: str) -> dict[str, bool]:
    """Read the label changes of an issue within a larger transaction."""
    rows = db.execute("SELECT label, added FROM label_actors WHERE issue_key = ?", (issue_key,))
    return {label: bool(added) for label, added in rows}


def read_relations(db: Connection, issue_key: str) -> tuple[Relation, ...]:
    """Read the relations of an issue within a larger transaction."""
    rows = db.execute("SELECT other, duplicate FROM relations WHERE issue_key = ? ORDER BY other", (issue_key,))
    return tuple(Relation(other, bool(duplicate)) for other, duplicate in rows)


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
        self._queried_at = float("-inf")

    async def unread(self, after: int) -> Sequence[Signal]:
        """Return redirects numbered above ``after``, oldest first; none within ``PACE`` seconds of the last query."""
        # The run asks before each decision, and a run by rules decides many times a second.
        now = time.monotonic()
        if now - self._queried_at < PACE:
            return ()
        self._queried_at = now
        return [
            Signal(item.number, "redirect", item.text) for item in await self.since(after) if item.kind == "redirect"
        ]

    async def since(self, after: int) -> list[StoredSignal]:
        """Return all signals with a number above ``after``, oldest first."""
        return await self._database.read(lambda db: read_signals(db, self._key, after))


def read_signals(db: Connection, issue_key: str, after: int) -> list[StoredSignal]:
    """Read signals within a larger transaction."""
    return [StoredSignal(*row) for row in db.execute(f"{_READ} ORDER BY number", (issue_key, after))]
