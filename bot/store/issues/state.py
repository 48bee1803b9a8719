"""Store the state of issues apart from their runs: muted, ended, moved."""

from dataclasses import dataclass

from bot.jobs import Job
from bot.store.databases.database import Connection, Keyed, of_key, query, transaction, upsert
from bot.store.jobs.queue import check_owned

_FIELDS = "muted, ended, moved_to, typed"
# Relations stay too: they name issues of the old repository by number.
_FOLLOWS = ("runs", "signals", "commands", "questions", "label_actors", "outcomes", "feedback")
"""Tables whose rows move with a transferred issue. Effects stay: the comments that their ids name were moved."""
# ``pruned = 0``: runs after a reopening store evidence again, which is pruned after the next closing.
_END = upsert("issues", "issue_key", "ended, ended_at, pruned")
_MOVED = upsert("issues", "issue_key", "ended, moved_to")
_OF_RUNS = ("evidence", "run_events")
"""Tables whose key is an issue's key, a colon and a run's number."""


@dataclass(frozen=True, slots=True)
class IssueState:
    """An issue's row; an issue without a row has the defaults."""

    muted: bool = False
    """A person stopped triage of the issue or deleted the App's comment."""
    ended: str | None = None
    """``closed``, ``deleted`` or ``transferred``, according to the last deliveries."""
    moved_to: str | None = None
    typed: bool = False
    """A person set or removed the issue's type."""


def read_state(db: Connection, key: str) -> IssueState:
    """Return an issue's row."""
    row = db.execute(f"SELECT {_FIELDS} FROM issues WHERE issue_key = ?", (key,)).fetchone()
    return IssueState(bool(row[0]), row[1], row[2], bool(row[3])) if row else IssueState()


class Issues(Keyed):
    """The row of one issue."""

    state = of_key(read_state)

    @query
    def state_for(self, db: Connection, job: Job) -> IssueState:
        """Return the issue's state; raises ``JobTakenOverError`` if the attempt does not own its job any more."""
        check_owned(db, job)
        return read_state(db, self._key)

    async def mute(self) -> None:
        """Mute the issue: it gets no more comments."""
        await self._set("muted", 1)

    async def decide_type(self) -> None:
        """Record that a person set or removed the issue's type."""
        await self._set("typed", 1)

    async def end(self, how: str | None, moved_to: str | None = None) -> None:
        """Record that the issue was closed, deleted or transferred; None records that it is open."""
        await self._change(_END, (self._key, how, None if how is None else self._database.clock(), 0))
        if moved_to is not None:
            await self._set("moved_to", moved_to)

    @transaction
    def adopt(self, db: Connection, old: str) -> bool:
        """Move the rows of the issue's key before its transfer to this one; False if there is nothing to move."""
        new = self._key
        has_any = db.execute("SELECT 1 FROM runs WHERE issue_key IN (?, ?)", (old, new)).fetchall()
        has_run = db.execute("SELECT 1 FROM runs WHERE issue_key = ?", (new,)).fetchone()
        # After a run under the new key, moved rows could collide with its (issue_key, run_no).
        if not has_any or has_run:
            return False
        for table in _FOLLOWS:
            db.execute(f"UPDATE {table} SET issue_key = ? WHERE issue_key = ?", (new, old))
        for table in ("outcomes", "runs"):
            moved = f"UPDATE {table} SET repository_key = ? WHERE issue_key = ?"
            db.execute(moved, (new.rpartition("#")[0], new))
        # ";" follows ":" in ASCII, so the range has all runs of the old key, and an index serves it.
        for table in _OF_RUNS:
            statement = f"UPDATE {table} SET run = ? || substr(run, ?) WHERE run >= ? AND run < ?"
            db.execute(statement, (new, len(old) + 1, f"{old}:", f"{old};"))
        # Checkpoints stay under the old key, so a run in progress starts again, with the people's signals and answers.
        # A run that waits for an answer keeps waiting, and starts again with the answer.
        db.execute("UPDATE runs SET status = 'failed' WHERE issue_key = ? AND status = 'running'", (new,))
        # The tombstone of the old key redirects late deliveries, and ``was_moved_here`` finds the new key by it.
        db.execute(_MOVED, (old, "transferred", new))
        db.execute("INSERT INTO issues (issue_key) VALUES (?) ON CONFLICT DO NOTHING", (new,))
        # A stop by a person applies at the new place too.
        known = "SELECT muted FROM issues WHERE issue_key = ?"
        db.execute(f"UPDATE issues SET muted = coalesce(({known}), muted) WHERE issue_key = ?", (old, new))
        return True

    async def was_moved_here(self) -> bool:
        """Return whether the issue was transferred and had another key before."""
        return await self._row("SELECT 1 FROM issues WHERE moved_to = ? LIMIT 1", (self._key,)) is not None

    async def _set(self, column: str, value: str | int | None) -> None:
        await self._change(upsert("issues", "issue_key", column), (self._key, value))
