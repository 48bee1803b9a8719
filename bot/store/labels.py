"""Store what people decided: labels that they added or removed, duplicates that they confirmed or denied."""

from __future__ import annotations

from bot.ports import Relation
from bot.store.database import Connection, Database

LABELLED = """
INSERT INTO label_actors (issue_key, label, added, actor) VALUES (?, ?, ?, ?)
ON CONFLICT (issue_key, label) DO UPDATE SET added = excluded.added, actor = excluded.actor
"""
"""The latest change wins."""


class People:
    """People's decisions on one issue."""

    def __init__(self, database: Database, issue_key: str) -> None:
        self._database = database
        self._key = issue_key

    async def labelled(self, label: str, actor: str, *, added: bool) -> None:
        """Record that a person added or removed a label; the latest change wins."""
        given = (self._key, label, int(added), actor)
        await self._database.do(lambda db: db.execute(LABELLED, given).rowcount)

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
