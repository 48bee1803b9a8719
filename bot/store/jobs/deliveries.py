"""Store deliveries with their jobs, many in one transaction; equal jobs that wait are merged or not repeated."""

import asyncio
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

from bot.jobs import UnknownWorkError, Work, kind_of, load
from bot.store.databases.database import Connection, Database, TableGroup, transaction

MERGE_SECONDS = 600.0
"""Seconds for which later equal jobs may postpone a job."""


def insert_job(db: Connection, guid: str, ordinal: int, work: Work, now: float) -> None:
    """Store a job under the delivery or job that caused it; idempotent."""
    due = now + work.delay
    if work.merges and _postpone_equal(db, work, due, now):
        return
    if _repeats_last(db, work, due):
        return
    statement = """
        INSERT INTO jobs (guid, ordinal, issue_key, installation, lane, work, due, stored_at)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
    """
    db.execute(statement, (guid, ordinal, work.key, work.installation, work.lane, work.model_dump_json(), due, now))


def _postpone_equal(db: Connection, work: Work, due: float, now: float) -> bool:
    """Update waiting jobs of the same kind and postpone them while the issue changes, up to ``MERGE_SECONDS``."""
    statement = """
        SELECT id, work, due, stored_at FROM jobs
        WHERE issue_key = ? AND lane = ? AND state = 'todo' AND due > ? AND attempt = 0
    """
    waiting = db.execute(statement, (work.key, work.lane, now)).fetchall()
    # Jobs that are due may be claimed at any moment, and those with an attempt have begun, so both are left alone.
    equal = [
        (work.model_dump_json(), max(was_due, min(due, stored_at + MERGE_SECONDS)), now, number)
        for number, text, was_due, stored_at in waiting
        if kind_of(text) == work.kind
    ]
    db.executemany("UPDATE jobs SET work = ?, due = ?, due_set_at = ? WHERE id = ?", equal)
    return bool(equal)


def _repeats_last(db: Connection, work: Work, due: float) -> bool:
    """Return whether the last waiting job is equal and untried; `stop`, `resume`, `stop` remain three jobs."""
    if not work.may_repeat:
        return False
    statement = """
        SELECT work, attempt FROM jobs WHERE issue_key = ? AND lane = ? AND state = 'todo' AND due <= ?
        ORDER BY id DESC LIMIT 1
    """
    last = db.execute(statement, (work.key, work.lane, due)).fetchone()
    try:
        return last is not None and last[1] == 0 and work.repeats(load(last[0]))
    except UnknownWorkError:
        return False


@dataclass(frozen=True, slots=True)
class Arrival:
    """A delivery that leads to at least one job."""

    guid: str
    event: str
    body: bytes
    work: tuple[Work, ...]
    digest: str | None = None
    """Digest of the body; None if a second delivery with the same body may lead to jobs too."""


class Inbox(TableGroup):
    """Stores deliveries. Those that arrive during a commit share the next one."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._waiting: list[tuple[Arrival, asyncio.Future[bool]]] = []
        self._committing: asyncio.Task[None] | None = None

    async def accept(self, arrival: Arrival) -> bool:
        """Store a delivery and its jobs durably, in one transaction; False if its id or digest was stored before."""
        future: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting.append((arrival, future))
        if self._committing is None or self._committing.done():
            self._committing = asyncio.create_task(self._commit())
        return await future

    async def knows(self, guid: str) -> bool:
        """Return whether a delivery was stored."""
        return await self._row("SELECT 1 FROM deliveries WHERE guid = ?", (guid,)) is not None

    async def forget_old(self, older_than: float) -> int:
        """Delete deliveries older than this many seconds that have no unfinished jobs; returns the number deleted."""
        unsettled = "SELECT 1 FROM jobs WHERE jobs.guid = deliveries.guid AND jobs.state <> 'done'"
        statement = f"DELETE FROM deliveries WHERE received_at < ? AND NOT EXISTS ({unsettled})"
        return await self._change(statement, (self._clock() - older_than,))

    async def _commit(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting, []
            try:
                stored = await self._store([arrival for arrival, _ in batch])
            # Whatever the error is, the waiting requests must receive it, or GitHub gets no response.
            except Exception as error:
                for _, future in batch:
                    if not future.done():
                        future.set_exception(error)
            else:
                for (_, future), new in zip(batch, stored, strict=True):
                    # The future of a request that was cancelled is done already, and setting it again would raise.
                    if not future.done():
                        future.set_result(new)

    @transaction
    def _store(self, db: Connection, arrivals: Sequence[Arrival]) -> list[bool]:
        now = self._clock()
        # All keys of the batch in one call, which sorts them: two batches that lock one by one could deadlock.
        db.lock(work.key for arrival in arrivals for work in arrival.work)
        return [_store_one(db, arrival, now) for arrival in arrivals]


def _store_one(db: Connection, arrival: Arrival, now: float) -> bool:
    statement = """
        INSERT INTO deliveries (guid, event, body, received_at, digest) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
    """
    # Level 1 is the fastest; GitHub waits until the delivery is stored.
    parameters = (arrival.guid, arrival.event, zlib.compress(arrival.body, 1), now, arrival.digest)
    # The conflict may be on the id (a redelivery) or on the digest (a captured body under another id).
    if not db.execute(statement, parameters).rowcount:
        return False
    for ordinal, work in enumerate(arrival.work):
        insert_job(db, arrival.guid, ordinal, work, now)
    return True
