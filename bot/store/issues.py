"""What is known of an issue besides its runs: muted, ended, moved, and where our comment is."""

from __future__ import annotations

from dataclasses import dataclass

from bot.jobs import Job
from bot.store.database import Connection, Database
from bot.store.jobs import check_owned

_FIELDS = "sticky_id, muted, ended, moved_to"
_FOLLOWS = ("runs", "signals", "commands", "questions", "label_actors", "outcomes")
"""Tables whose rows belong to the issue, wherever it is. Effects stay: their ids name comments that were moved."""
_END = """
INSERT INTO issues (issue_key, ended, ended_at) VALUES (?, ?, ?)
ON CONFLICT (issue_key) DO UPDATE SET ended = excluded.ended, ended_at = excluded.ended_at, pruned = 0
"""
_MOVED = """
INSERT INTO issues (issue_key, ended, moved_to) VALUES (?, 'transferred', ?)
ON CONFLICT (issue_key) DO UPDATE SET ended = excluded.ended, moved_to = excluded.moved_to
"""
_OF_RUNS = ("evidence", "run_events")
"""Tables whose rows are filed under an issue's key, a colon and a run's number."""


@dataclass(frozen=True, slots=True)
class IssueState:
    """A row; an issue without one is as the defaults say."""

    sticky_id: int | None = None
    muted: bool = False
    """A person said stop, or took our comment away."""
    ended: str | None = None
    """``closed``, ``deleted`` or ``transferred``, as far as deliveries said."""
    moved_to: str | None = None
    """The key of the issue that it is now."""


class Issues:
    """One issue's row."""

    def __init__(self, database: Database, issue_key: str) -> None:
        self._database = database
        self._key = issue_key

    async def state(self) -> IssueState:
        """What is known."""
        return await self._database.read(lambda db: _state(db, self._key))

    async def state_for(self, job: Job) -> IssueState:
        """What is known, for an attempt that still has its job.

        Raises:
            NotOursError: another attempt has it.
        """

        def work(db: Connection) -> IssueState:
            check_owned(db, job)
            return _state(db, self._key)

        return await self._database.read(work)

    async def mute(self, *, muted: bool) -> None:
        """Say nothing more on it, or speak again."""
        await self._set("muted", int(muted))

    async def end(self, how: str | None, moved_to: str | None = None) -> None:
        """It was closed, deleted or moved away; None: it is open."""
        at = None if how is None else self._database.clock()
        await self._database.do(lambda db: db.execute(_END, (self._key, how, at)).rowcount)
        if moved_to is not None:
            await self._set("moved_to", moved_to)

    async def adopt(self, old_key: str) -> bool:
        """Take over what is known of the issue that this one was before it was moved; False if that is nothing."""
        return await self._database.do(lambda db: _adopt(db, old_key, self._key))

    async def was_moved_here(self) -> bool:
        """Whether it was another issue before."""
        statement = "SELECT 1 FROM issues WHERE moved_to = ? LIMIT 1"
        return await self._database.read(lambda db: db.execute(statement, (self._key,)).fetchone()) is not None

    async def _set(self, column: str, value: str | int | None) -> None:
        statement = f"""
            INSERT INTO issues (issue_key, {column}) VALUES (?, ?)
            ON CONFLICT (issue_key) DO UPDATE SET {column} = excluded.{column}
        """  # noqa: S608  columns are named in this class alone
        await self._database.do(lambda db: db.execute(statement, (self._key, value)).rowcount)


def _state(db: Connection, key: str) -> IssueState:
    row = db.execute(f"SELECT {_FIELDS} FROM issues WHERE issue_key = ?", (key,)).fetchone()  # noqa: S608  as above
    return IssueState(row[0], bool(row[1]), row[2], row[3]) if row else IssueState()


def _adopt(db: Connection, old: str, new: str) -> bool:
    known = db.execute("SELECT 1 FROM runs WHERE issue_key IN (?, ?)", (old, new)).fetchall()
    begun = db.execute("SELECT 1 FROM runs WHERE issue_key = ?", (new,)).fetchone()
    if not known or begun:
        return False
    for table in _FOLLOWS:
        db.execute(f"UPDATE {table} SET issue_key = ? WHERE issue_key = ?", (new, old))  # noqa: S608  named above
    for table in ("outcomes", "runs"):
        moved = f"UPDATE {table} SET repository_key = ? WHERE issue_key = ?"  # noqa: S608  as above
        db.execute(moved, (new.rpartition("#")[0], new))
    for table in _OF_RUNS:
        statement = f"UPDATE {table} SET run = ? || substr(run, ?) WHERE run >= ? AND run < ?"  # noqa: S608  as above
        db.execute(statement, (new, len(old) + 1, f"{old}:", f"{old};"))
    # A checkpoint is filed under the old key, so what was under way starts anew, with what people said. What waits
    # for an answer still does, and starts anew with it.
    db.execute("UPDATE runs SET status = 'failed' WHERE issue_key = ? AND status = 'running'", (new,))
    db.execute(_MOVED, (old, new))
    db.execute("INSERT INTO issues (issue_key) VALUES (?) ON CONFLICT DO NOTHING", (new,))
    db.execute(
        "UPDATE issues SET muted = coalesce((SELECT muted FROM issues WHERE issue_key = ?), muted) WHERE issue_key = ?",
        (old, new),
    )
    return True
