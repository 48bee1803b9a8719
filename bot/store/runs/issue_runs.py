"""Store runs: consecutive per issue, each pinned to a commit; their results outlive their checkpoints."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from bot.jobs import Alert, Continue, Job, Work
from bot.limits.ceilings import Amount, ReachedCeiling, Scope
from bot.ports import IssueRef
from bot.store.databases.database import Connection, Database, Keyed, of_key, transaction
from bot.store.issues.past_issues import Crash, note_crash
from bot.store.issues.people import read_signals
from bot.store.jobs.queue import settle_job
from bot.store.runs.outcomes import Reported, note_report
from bot.store.runs.rows import ListedRun, RunStatus, new_run, open_run, read_last
from bot.store.runs.usage import reserve

# ``last_signal`` only grows, and an attempt without a result leaves the stored one in place.
_NOTE = """
UPDATE runs SET status = ?, last_signal = CASE WHEN last_signal < ? THEN ? ELSE last_signal END,
    result = coalesce(?, result), changed_at = ?
WHERE issue_key = ? AND run_no = ?
"""
RESULT_BEFORE = """
SELECT run_no, result FROM runs
WHERE issue_key = ? AND run_no < ? AND result IS NOT NULL ORDER BY run_no DESC LIMIT 1
"""
# A resumed run is pinned again. Its commit and its reason stay those of the first attempt.
_PIN = """
UPDATE runs SET sha = CASE WHEN sha = '' THEN ? ELSE sha END, brain = ?, config_hash = ?, body_hash = ?, title = ?,
    changed_at = ?, body = ?, author = ?,
    asked_by = CASE WHEN why = '' THEN ? ELSE asked_by END, asked_in = CASE WHEN why = '' THEN ? ELSE asked_in END,
    why = CASE WHEN why = '' THEN ? ELSE why END
WHERE issue_key = ? AND run_no = ?
"""
_SHOW = (
    "UPDATE runs SET kind = ?, claimed = ?, confidence = ?, place = ?, symbol = ? WHERE issue_key = ? AND run_no = ?"
)


@dataclass(frozen=True, slots=True)
class Origin:
    """The text that a run read, and the reason for the run."""

    body: str = ""
    """The issue's text, secrets masked; empty if it may not be stored."""
    author: str = ""
    why: str = ""
    """The reason, as ``bot.worker.publish.publisher.Why`` names it."""
    asked_by: str = ""
    """Login of the person whose command began it; empty without a command."""
    asked_in: int | None = None
    """Id of the comment with that command."""


@dataclass(frozen=True, slots=True)
class Ending:
    """The fields of a report that lists of runs show."""

    kind: str
    claimed: bool
    confidence: float
    place: str = ""
    """The claimed file; empty if the report claims none, or if not everyone may see it."""
    symbol: str = ""


@dataclass(frozen=True, slots=True)
class Settlement:
    """The result of an attempt at a run, which ended or waits for an answer."""

    status: RunStatus
    last_signal: int = 0
    """Number of the last redirect that the run read."""
    unread: bool = False
    """Whether a redirect after that one begins another run."""
    result: str | None = None
    reported: Reported | None = None
    ending: Ending | None = None
    crash: Crash | None = None


class IssueRuns(Keyed):
    """The runs of one issue."""

    def __init__(self, database: Database, ref: IssueRef) -> None:
        super().__init__(database, ref.key)
        self._ref = ref

    last = of_key(read_last)

    async def result_before(self, number: int) -> str | None:
        """Return the result, as JSON, of the newest run with a smaller number that has one."""
        row = await self._row(RESULT_BEFORE, (self._key, number))
        return str(row[1]) if row else None

    @transaction
    def restore(self, db: Connection, status: Literal["waiting", "finished"], body_hash: str) -> ListedRun:
        """Store a run of another store, without its result and checkpoint; return the newest run if one exists."""
        run = read_last(db, self._key) or new_run(db, self._key, 1, 0, self._clock())
        # A run that waits or ended is further than the other store knows.
        if run.status == "running":
            stated = "UPDATE runs SET status = ?, body_hash = ? WHERE issue_key = ? AND run_no = ?"
            db.execute(stated, (status, body_hash, self._key, run.number))
        return read_last(db, self._key) or run

    @transaction
    def begin(self, db: Connection, scopes: Sequence[Scope], *, leave: int | None = None) -> ListedRun | ReachedCeiling:
        """Return the unfinished run, a new and counted one, or the ceiling against it; ``leave`` is ended first."""
        last = read_last(db, self._key)
        if last is not None and last.unfinished and last.number != leave:
            return last
        # Counted in the transaction that opens the run, so concurrent runs cannot exceed a ceiling together.
        reached = reserve(db, scopes, Amount(issues=1))
        if reached is not None:
            return reached
        return open_run(db, self._key, self._clock()) if leave is None else self._replace(db, leave)

    async def pin(
        self,
        number: int,
        *,
        sha: str,
        brain: str,
        config_hash: str,
        body_hash: str,
        title: str = "",
        origin: Origin | None = None,
    ) -> None:
        """Record what a run reads and which brain judges; the first call sets commit and reason, later ones do not."""
        from_ = origin or Origin()
        parameters = (sha, brain, config_hash, body_hash, title, self._clock(), from_.body, from_.author)
        await self._change(_PIN, (*parameters, *(from_.asked_by, from_.asked_in, from_.why), self._key, number))

    @transaction
    def give_up(self, db: Connection, number: int) -> ListedRun:
        """Mark a run that cannot continue as failed, and open the next."""
        return self._replace(db, number)

    def _replace(self, db: Connection, number: int) -> ListedRun:
        now = self._clock()
        failed = "UPDATE runs SET status = 'failed', changed_at = ? WHERE issue_key = ? AND run_no = ?"
        db.execute(failed, (now, self._key, number))
        return open_run(db, self._key, now)

    @transaction
    def settle(
        self,
        db: Connection,
        number: int,
        end: Settlement,
        job: Job,
        message: str = "",
        *,
        next_work: Sequence[Work] = (),
    ) -> None:
        """Store how a run ended and settle its job, in one transaction; a ``JobTakenOverError`` changes nothing.

        A job follows for a crash that several people report, and for a redirect that the run did not read.
        """
        now, ending, crash = self._clock(), end.ending, end.crash
        db.execute(_NOTE, (end.status, end.last_signal, end.last_signal, end.result, now, self._key, number))
        if ending is not None:
            shown = (ending.kind, int(ending.claimed), ending.confidence, ending.place, ending.symbol)
            db.execute(_SHOW, (*shown, self._key, number))
        if end.reported is not None:
            note_report(db, self._key, number, end.reported)
        late: list[Work] = [
            Alert(ref=replace(self._ref, number=storm.issues[0]), fingerprint=storm.fingerprint, at=now)
            for storm in (note_crash(db, self._key, crash, now) if crash is not None else ())
        ]
        # In the transaction that settles the job, so that no redirect is missed between the check and the end.
        signals = read_signals(db, self._key, end.last_signal) if end.unread else []
        if any(signal.kind == "redirect" for signal in signals):
            late.append(Continue(ref=self._ref))
        # Last: it raises if another attempt has the job, and then everything above is rolled back.
        settle_job(db, job, message, (*next_work, *late), now)
