"""Store the state of issues apart from their runs: muted, ended, moved; and read the open ones for the digest."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from bot.jobs import Job
from bot.ports import OpenReport, OpenReports, UnansweredQuestion
from bot.report.document import Result
from bot.store.databases.database import Connection, Keyed, query, transaction
from bot.store.issues.questions import read_relations
from bot.store.jobs.queue import check_owned
from nodes.state import HumanExchange

_FIELDS = "muted, ended, moved_to, typed"
# Relations stay too: they name issues of the old repository by number.
_FOLLOWS = ("runs", "signals", "commands", "questions", "label_actors", "outcomes", "feedback", "label_judgements")
"""Tables whose rows move with a transferred issue. Effects stay: the comments that their ids name were moved."""
# ``pruned = 0``: runs after a reopening store evidence again, which is pruned after the next closing.
_END = """
INSERT INTO issues (issue_key, ended, ended_at) VALUES (?, ?, ?)
ON CONFLICT (issue_key) DO UPDATE SET ended = excluded.ended, ended_at = excluded.ended_at, pruned = 0
"""
_MOVED = """
INSERT INTO issues (issue_key, ended, moved_to) VALUES (?, 'transferred', ?)
ON CONFLICT (issue_key) DO UPDATE SET ended = excluded.ended, moved_to = excluded.moved_to
"""
_OF_RUNS = ("evidence", "run_events")
"""Tables whose key is an issue's key, a colon and a run's number."""

DAY = 86_400.0
MAX_READ = 100
"""Maximum number of reports, and of questions, that are read."""
# Open by the last delivery, and not muted: a person asked the App to leave a muted issue alone.
_IS_OPEN = "ended IS NULL AND coalesce(muted, 0) = 0"
_REPORTS = f"""
SELECT runs.issue_key, title, result, first_at, count(*) OVER ()
FROM (
    SELECT issue_key, max(run_no) AS last, min(began_at) AS first_at FROM runs
    WHERE repository_key = ? AND result IS NOT NULL GROUP BY issue_key
) AS reported
JOIN runs ON runs.issue_key = reported.issue_key AND run_no = last
LEFT JOIN issues ON issues.issue_key = reported.issue_key
WHERE kind <> 'security' AND {_IS_OPEN} ORDER BY first_at DESC, runs.issue_key LIMIT ?
"""
_QUESTIONS = f"""
SELECT runs.issue_key, title, exchange, asked_at, state
FROM runs JOIN questions ON questions.issue_key = runs.issue_key
LEFT JOIN issues ON issues.issue_key = runs.issue_key
WHERE repository_key = ? AND state IN ('open', 'expired') AND kind <> 'security' AND {_IS_OPEN}
    AND run_no = (SELECT max(run_no) FROM runs AS newer WHERE newer.issue_key = runs.issue_key)
ORDER BY asked_at, runs.issue_key, slot LIMIT ?
"""
_CLOSED = """
SELECT count(DISTINCT runs.issue_key) FROM runs JOIN issues ON issues.issue_key = runs.issue_key
WHERE repository_key = ? AND result IS NOT NULL AND ended = 'closed' AND ended_at >= ?
"""


@dataclass(frozen=True, slots=True)
class IssueState:
    """An issue's row; an issue without a row has the defaults."""

    muted: bool = False
    """A person stopped triage of the issue or deleted the App's comment."""
    ended: str | None = None
    """``closed``, ``deleted`` or ``transferred``, according to the last deliveries."""
    moved_to: str | None = None
    """The key of the issue after a transfer."""
    typed: bool = False
    """A person set or removed the issue's type."""


class Issues(Keyed):
    """The row of one issue."""

    @query
    def state(self, db: Connection) -> IssueState:
        """Return the issue's state."""
        return read_state(db, self._key)

    @query
    def state_for(self, db: Connection, job: Job) -> IssueState:
        """Return the issue's state if the attempt still owns its job.

        Raises:
            JobTakenOverError: another attempt has it.
        """
        check_owned(db, job)
        return read_state(db, self._key)

    async def mute(self, *, muted: bool) -> None:
        """Mute or unmute the issue: a muted issue gets no more comments."""
        await self._set("muted", int(muted))

    async def decide_type(self) -> None:
        """Record that a person set or removed the issue's type."""
        await self._set("typed", 1)

    async def end(self, how: str | None, moved_to: str | None = None) -> None:
        """Record that the issue was closed, deleted or transferred; None records that it is open."""
        at = None if how is None else self._database.clock()
        await self._change(_END, (self._key, how, at))
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
        db.execute(_MOVED, (old, new))
        db.execute("INSERT INTO issues (issue_key) VALUES (?) ON CONFLICT DO NOTHING", (new,))
        # A stop by a person applies at the new place too.
        known = "SELECT muted FROM issues WHERE issue_key = ?"
        db.execute(f"UPDATE issues SET muted = coalesce(({known}), muted) WHERE issue_key = ?", (old, new))
        return True

    async def was_moved_here(self) -> bool:
        """Return whether the issue was transferred and had another key before."""
        statement = "SELECT 1 FROM issues WHERE moved_to = ? LIMIT 1"
        return await self._row(statement, (self._key,)) is not None

    async def _set(self, column: str, value: str | int | None) -> None:
        statement = f"""
            INSERT INTO issues (issue_key, {column}) VALUES (?, ?)
            ON CONFLICT (issue_key) DO UPDATE SET {column} = excluded.{column}
        """
        await self._change(statement, (self._key, value))


def read_state(db: Connection, key: str) -> IssueState:
    """Read an issue's row within a larger transaction."""
    row = db.execute(f"SELECT {_FIELDS} FROM issues WHERE issue_key = ?", (key,)).fetchone()
    return IssueState(bool(row[0]), row[1], row[2], bool(row[3])) if row else IssueState()


class OpenIssues(Keyed):
    """The open issues of one repository."""

    @query
    def read(self, db: Connection, since: float) -> OpenReports:
        """Read reports and questions in one query; closed issues are counted from ``since`` on."""
        rows = db.execute(_REPORTS, (self._key, MAX_READ)).fetchall()
        questions = db.execute(_QUESTIONS, (self._key, MAX_READ)).fetchall()
        (closed,) = db.execute(_CLOSED, (self._key, since)).fetchone()
        return OpenReports(
            tuple(_report(db, issue_key, *row[:3]) for issue_key, *row in rows),
            rows[0][-1] if rows else 0,
            tuple(_question(row, self._clock()) for row in questions),
            closed,
        )


def _report(db: Connection, issue_key: str, title: str, result: str, since: float) -> OpenReport:
    report = Result.model_validate_json(result).report
    return OpenReport(_number(issue_key), title, since, report, read_relations(db, issue_key))


def _question(row: tuple[str, str, str, str, str], now: float) -> UnansweredQuestion:
    issue_key, title, exchange, asked_at, state = row
    text = HumanExchange.model_validate_json(exchange).question
    days = max(int((now - datetime.fromisoformat(asked_at).timestamp()) // DAY), 0)
    return UnansweredQuestion(_number(issue_key), title, text, days, state == "expired")


def _number(issue_key: str) -> int:
    return int(issue_key.rpartition("#")[2])
