"""The jobs table: jobs are claimed in order per issue and lane, counted at the claim, and settled once."""

import logging
from collections.abc import Mapping, Sequence

from bot.errors import JobTakenOverError
from bot.jobs import Job, UnknownWorkError, Work, load
from bot.store.databases.database import Connection, Database, TableGroup, Value, query, transaction
from bot.store.jobs.deliveries import insert_job
from bot.store.jobs.turns import FREE, QUEUE_AGAIN, TAKE_TURN, Death, next_issues
from bot.work import Lane

MAX_ATTEMPTS = 25
"""Maximum claims of one job, however they ended: twenty kills in a row must not lose it, and none may run forever."""
MAX_WAITED = 5_000
"""Maximum times that a limit may postpone one job without using attempts: a few days of one-minute waits."""
MAX_LOST = 3
"""Maximum times that a job may end its worker process while the server keeps running."""
FEW = 5
"""Attempts without a delay after a restart; later attempts wait longer each time."""

_ROUNDS = 20
"""Maximum times that a claim is retried while other processes take every job that was found."""

_NEXT = f"""
SELECT id, attempt, waited, lost FROM jobs AS job WHERE state = 'todo' AND lane = :lane AND due <= :now AND {FREE}
  AND issue_key = :key ORDER BY due, id LIMIT 1
"""
WAITING = f"""
SELECT id, issue_key, lane, due, attempt FROM jobs AS job
WHERE state = 'todo' AND due <= :late AND {FREE} ORDER BY due, id
"""
"""Jobs that could have been claimed since ``late``."""

_GIVE_UP = """
UPDATE jobs SET state = 'dead', due = :now, due_set_at = :now, death = :death,
    said = CASE WHEN said = '' THEN :why ELSE :why || ', last: ' || said END
WHERE id = :id
"""
_UNPARK = f"""
{QUEUE_AGAIN} WHERE state = 'parked' AND substr(issue_key, 1, length(:prefix)) = :prefix
"""
_AHEAD = 60.0
"""Seconds by which the clocks of two processes may differ."""
_SINCE = "CASE WHEN due_set_at > 0 THEN due_set_at ELSE stored_at END"
_CORRECT_DUE = f"""
UPDATE jobs SET due_set_at = :now, due = :now + CASE WHEN due > {_SINCE} THEN due - {_SINCE} ELSE 0 END
WHERE state IN ('todo', 'dead') AND {_SINCE} > :ahead
"""

logger = logging.getLogger(__name__)


class Jobs(TableGroup):
    """The job queue; each job in progress has one owner."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._turn = 0.0
        """Time of the last claim in this process."""
        self._left = False
        """Whether this process left a job to a newer release."""

    async def claim(self, lane: Lane, owner: str, *, early: float = 0.0) -> Job | None:
        """Claim the next job whose issue is free; None if there is none.

        Installations take turns. Within one, the job that has been due longest comes first. A postponed job does not
        block later ones unless an attempt has begun; then it goes first. A job with too many attempts becomes dead
        here. This bounds every retry loop, including that of a job that ends its process.

        ``early``: seconds before its due time at which a job may be taken.
        """
        parameters: dict[str, Value] = {"lane": lane, "now": self._clock() + early}
        # The search is a read, so a worker without work never takes SQLite's write lock and never conflicts on
        # Postgres.
        for _ in range(_ROUNDS):
            keys = await self._database.read(lambda db: next_issues(db, parameters))
            unknown = 0
            for key in keys:
                try:
                    job = await self._claim(owner, key, parameters)
                except UnknownWorkError as error:
                    unknown += 1
                    # It is left to a process of the release that stored it.
                    if not self._left:
                        self._left = True
                        logger.warning("%s: a newer release's worker must run it", error, extra={"action": "job_left"})
                    continue
                if job is not None:
                    return job
            if unknown == len(keys):
                break
        return None

    async def _claim(self, owner: str, key: str, parameters: Mapping[str, Value]) -> Job | None:
        now = self._clock()
        # Turns are ordered by time, so two claims in one tick of the clock get different times.
        self._turn = at = self._turn + 1e-6 if 0 <= self._turn - now < 1.0 else now
        return await self._database.do(lambda db: _claim(db, owner, at, {**parameters, "key": key}))

    async def idle(self) -> float | None:
        """Return the seconds until the next job becomes due, ignoring jobs already due; None if there is none."""
        now = self._clock()
        (due,) = await self._row("SELECT min(due) FROM jobs WHERE state = 'todo' AND due > ?", (now,))
        return None if due is None else max(0.0, float(due) - now)

    @query
    def check(self, db: Connection, job: Job) -> None:
        """Raise ``JobTakenOverError`` unless the attempt still owns the job."""
        check_owned(db, job)

    @transaction
    def settle(self, db: Connection, job: Job, message: str = "", *, next_work: Sequence[Work] = ()) -> None:
        """Mark the job as done and store its follow-up jobs in the same transaction."""
        settle_job(db, job, message, next_work, self._clock())

    @transaction
    def postpone(self, db: Connection, job: Job, seconds: float, message: str, *, limited: bool = False) -> None:
        """Retry the job later, in its place in the queue; ``limited``: this attempt does not count."""
        _release(db, job, "todo", self._clock(), message, after=seconds, waited=limited)

    @transaction
    def park(self, db: Connection, job: Job, message: str) -> None:
        """Park the job until its installation is active again."""
        _release(db, job, "parked", self._clock(), message)

    @transaction
    def mark_dead(self, db: Connection, job: Job, message: str, *, death: Death = "fault") -> None:
        """Mark the job as dead; it stays visible, and an operator can replay it or upkeep revives it after a delay."""
        _release(db, job, "dead", self._clock(), message, death=death)

    @transaction
    def recover(self, db: Connection, *, blame: bool, place: str | None = None) -> int:
        """Free the jobs of worker processes that are gone; returns the number freed.

        ``blame`` counts each job as lost once more, since one of them probably ended the process. ``place`` is the
        owners' suffix; None if no other process works on these jobs.
        """
        where, parameters = ("owner LIKE :owners", {"owners": f"%{place}"}) if place else ("1 = 1", {})
        return free_jobs(db, self._clock(), where, parameters, blame=blame)

    async def replay(self, job_id: int) -> bool:
        """Queue a dead job again with all its attempts; False if there is no such dead job."""
        now = self._clock()
        # ``revived = 0``: after an operator's replay all automatic revivals are available again.
        statement = f"{QUEUE_AGAIN}, lost = 0, revived = 0 WHERE id = :id AND state = 'dead'"
        return await self._change(statement, {"now": now, "id": job_id}) > 0

    async def correct_due_times(self) -> int:
        """Count the waits of jobs from now that were set while the clock was ahead; returns the number of jobs."""
        return await self._change(_CORRECT_DUE, {"now": self._clock(), "ahead": self._clock() + _AHEAD})

    @transaction
    def unpark(self, db: Connection, repositories: Sequence[str]) -> int:
        """Queue the parked jobs of these repositories (by key) again; returns the number of jobs."""
        now = self._clock()
        return sum(db.execute(_UNPARK, {"now": now, "prefix": f"{key}#"}).rowcount for key in repositories)

    async def has_unfinished(self, issue_key: str) -> bool:
        """Return whether an issue has a job that is not done, including dead and parked ones."""
        statement = "SELECT 1 FROM jobs WHERE issue_key = ? AND state <> 'done' LIMIT 1"
        return await self._row(statement, (issue_key,)) is not None

    async def counts(self) -> dict[str, int]:
        """Return the number of jobs by state, without done ones."""
        return dict(await self._rows("SELECT state, count(*) FROM jobs WHERE state <> 'done' GROUP BY state"))

    @transaction
    def forget_done(self, db: Connection, older_than: float) -> int:
        """Delete jobs that were done this many seconds ago; returns the number deleted."""
        before = self._clock() - older_than
        db.execute("DELETE FROM turns WHERE at < ?", (before,))
        return db.execute("DELETE FROM jobs WHERE state = 'done' AND settled_at < ?", (before,)).rowcount


def settle_job(db: Connection, job: Job, message: str, next_work: Sequence[Work], now: float) -> None:
    """Settle a job within a larger transaction; raises ``JobTakenOverError``, which must roll it back."""
    _release(db, job, "done", now, message)
    db.lock(work.key for work in next_work)
    for ordinal, work in enumerate(next_work):
        insert_job(db, f"job:{job.id}:{job.attempt}", ordinal, work, now)


def _claim(db: Connection, owner: str, at: float, parameters: Mapping[str, Value]) -> Job | None:
    # A job over its limits is marked as dead here, and the issue's next job is taken in the same transaction.
    while (found := db.execute(_NEXT, parameters).fetchone()) is not None:
        number, attempts, waited, lost = found
        if attempts - waited < MAX_ATTEMPTS and waited < MAX_WAITED and lost < MAX_LOST:
            take = "UPDATE jobs SET state = 'doing', owner = ?, attempt = attempt + 1 WHERE id = ? RETURNING work, guid"
            work, guid = db.execute(take, (owner, number)).fetchone()
            db.execute(TAKE_TURN, {"id": number, "at": at})
            return Job(id=number, work=load(work), attempt=attempts + 1, owner=owner, delivery=guid, waited=waited)
        why = "too many attempts" if lost < MAX_LOST else "it crashed its worker process too often"
        death: Death = "transient" if lost < MAX_LOST else "lost"
        db.execute(_GIVE_UP, {"why": why, "id": number, "death": death, "now": parameters["now"]})
    return None


def check_owned(db: Connection, job: Job) -> None:
    """Raise ``JobTakenOverError`` unless the attempt still owns the job, within a larger transaction."""
    statement = "SELECT 1 FROM jobs WHERE id = ? AND state = 'doing' AND attempt = ? AND owner = ?"
    if db.execute(statement, (job.id, job.attempt, job.owner)).fetchone() is None:
        raise JobTakenOverError(f"job {job.id}: attempt {job.attempt} was taken over")


# ``attempt`` is compared besides the owner: a worker that was frozen may claim a job again after it was freed, and its
# first attempt must then change nothing.
def _release(
    db: Connection,
    job: Job,
    state: str,
    now: float,
    message: str,
    *,
    after: float = 0.0,
    waited: bool = False,
    death: str = "",
) -> None:
    statement = """
        UPDATE jobs SET state = ?, due = ?, due_set_at = ?, said = ?, owner = NULL, settled_at = ?, waited = waited + ?,
            death = ?
        WHERE id = ? AND state = 'doing' AND attempt = ? AND owner = ?
    """
    settled = now if state == "done" else None
    changed = (state, now + after, now, message[:1_000], settled, int(waited), death)
    parameters = (*changed, job.id, job.attempt, job.owner)
    if not db.execute(statement, parameters).rowcount:
        raise JobTakenOverError(f"job {job.id}: attempt {job.attempt} was taken over")


def free_jobs(db: Connection, now: float, where: str, parameters: Mapping[str, Value], *, blame: bool) -> int:
    """Free the jobs in progress that match a condition, within a transaction; returns the number freed."""
    # 1, 2, 4 … 256, then 300 seconds: a job that keeps ending its process must not keep restarting the worker.
    statement = f"""
        UPDATE jobs SET state = 'todo', owner = NULL, lost = lost + :blame, due_set_at = :now,
            due = :now + CASE WHEN attempt - waited < :few THEN 0 WHEN attempt - waited > :few + 8 THEN 300
                ELSE 1 << CAST(attempt - waited - :few AS INTEGER) END
        WHERE state = 'doing' AND {where}
    """
    return db.execute(statement, {**parameters, "blame": int(blame), "now": now, "few": FEW}).rowcount
