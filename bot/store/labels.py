"""What people decided: labels they put on or took off, duplicates they named or denied."""

from __future__ import annotations

from bot.ports import Relation
from bot.store.database import Connection, Database

LABELLED = """
INSERT INTO label_actors (issue_key, label, added, actor) VALUES (?, ?, ?, ?)
ON CONFLICT (issue_key, label) DO UPDATE SET added = excluded.added, actor = excluded.actor
"""
"""The latest counts."""


class People:
    """The decisions on one issue."""

    def __init__(self, database: Database, issue_key: str) -> None:
        self._database = database
        self._key = issue_key

    async def labelled(self, label: str, actor: str, *, added: bool) -> None:
        """A person put a label on, or took it off; the latest counts."""
        given = (self._key, label, int(added), actor)
        await self._database.do(lambda db: db.execute(LABELLED, given).rowcount)

    async def label_changes(self) -> dict[str, bool]:
        """Labels that a person touched: True, put on; False, taken off. They are never changed by us."""
        return await self._database.read(lambda db: read_label_changes(db, self._key))

    async def relations(self) -> tuple[Relation, ...]:
        """Duplicates that were named or denied."""
        return await self._database.read(lambda db: read_relations(db, self._key))


def read_label_changes(db: Connection, issue_key: str) -> dict[str, bool]:
    """As above, within a look that does more."""
    rows = db.execute("SELECT label, added FROM label_actors WHERE issue_key = ?", (issue_key,))
    return {label: bool(added) for label, added in rows}


def read_relations(db: Connection, issue_key: str) -> tuple[Relation, ...]:
    """As above, within a look that does more."""
    rows = db.execute("SELECT other, duplicate FROM relations WHERE issue_key = ? ORDER BY other", (issue_key,))
    return tuple(Relation(other, bool(duplicate)) for other, duplicate in rows)
