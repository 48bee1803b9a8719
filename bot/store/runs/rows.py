"""The rows of runs, and those that a command line stores: for each run a number and its evidence."""

from dataclasses import dataclass
from typing import Literal

from bot.store.databases.database import Connection, TableGroup, transaction
from bot.store.runs.run_events import RunEvidence

RunStatus = Literal["running", "waiting", "finished", "stopped", "failed"]
_FIELDS = "run_no, status, sha, brain, config_hash, body_hash, last_signal, result, began_at"
_UNFINISHED = ("running", "waiting")
# Above any run's number.
_ANY = 2**31 - 1


@dataclass(frozen=True, slots=True)
class ListedRun:
    """One row of the table of runs."""

    number: int
    status: RunStatus
    sha: str
    """The commit that the run reads; empty until it is known."""
    brain: str
    config_hash: str
    body_hash: str
    """Hash of the title and body that the run read."""
    last_signal: int
    """The number of the last signal that this run, or one before it, has read."""
    result: str | None
    """JSON of the run's result (``triage schema`` describes it)."""
    began_at: float
    """Seconds since 1970."""

    @property
    def unfinished(self) -> bool:
        """Whether the run can continue."""
        return self.status in _UNFINISHED


def read_last(db: Connection, issue_key: str, before: int = _ANY) -> ListedRun | None:
    """Return the newest run with a number below ``before``."""
    which = "issue_key = ? AND run_no < ? ORDER BY run_no DESC LIMIT 1"
    row = db.execute(f"SELECT {_FIELDS} FROM runs WHERE {which}", (issue_key, before)).fetchone()
    return ListedRun(*row) if row else None


def open_run(db: Connection, issue_key: str, now: float) -> ListedRun:
    """Return the unfinished run of an issue, or open a new one, within a transaction."""
    last = read_last(db, issue_key)
    if last is not None and last.unfinished:
        return last
    # A signal that an earlier run has read must not interrupt this one.
    return new_run(db, issue_key, last.number + 1 if last else 1, last.last_signal if last else 0, now)


def new_run(db: Connection, issue_key: str, number: int, last_signal: int, now: float) -> ListedRun:
    """Return a new run, within a transaction."""
    statement = f"""
        INSERT INTO runs (issue_key, repository_key, run_no, last_signal, began_at, changed_at)
        VALUES (?, ?, ?, ?, ?, ?) RETURNING {_FIELDS}
    """
    parameters = (issue_key, issue_key.rpartition("#")[0], number, last_signal, now, now)
    return ListedRun(*db.execute(statement, parameters).fetchone())


class LocalRuns(TableGroup):
    """The runs of the command line, by the keys of their issues."""

    @transaction
    def open(self, db: Connection, issue_key: str) -> int:
        """Return the number of an issue's unfinished run, or of a new one."""
        return open_run(db, issue_key, self._clock()).number

    async def finish(self, issue_key: str, run_no: int) -> None:
        """Mark a run as finished; the next one gets a new number."""
        statement = "UPDATE runs SET status = 'finished' WHERE issue_key = ? AND run_no = ?"
        await self._change(statement, (issue_key, run_no))

    def evidence(self, run: str) -> RunEvidence:
        """Return access to the evidence of one run."""
        return RunEvidence(self._database, run)

    async def aclose(self) -> None:
        """Close the database."""
        await self._database.aclose()
