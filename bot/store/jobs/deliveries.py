"""Store a delivery and its jobs together, many deliveries in one transaction."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bot.jobs import Work
from bot.store.databases.database import Connection, Database
from bot.store.jobs.insertion import insert_job


@dataclass(frozen=True, slots=True)
class Arrival:
    """A delivery that leads to at least one job."""

    guid: str
    event: str
    body: bytes
    work: tuple[Work, ...]
    digest: str | None = None
    """Digest of the body; None if a second delivery with the same body may lead to jobs too."""


class Inbox:
    """Stores deliveries. Those that arrive during a commit share the next one."""

    def __init__(self, database: Database, clock: Callable[[], float] | None = None) -> None:
        self._database = database
        self._clock = clock or database.clock
        self._waiting: list[tuple[Arrival, asyncio.Future[bool]]] = []
        self._committing: asyncio.Task[None] | None = None

    async def accept(self, arrival: Arrival) -> bool:
        """Store a delivery and its jobs in one transaction; False if its id or digest was stored before.

        When this returns, the data is durable: it survives a crash of the process.
        """
        future: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting.append((arrival, future))
        if self._committing is None or self._committing.done():
            self._committing = asyncio.create_task(self._commit())
        return await future

    async def knows(self, guid: str) -> bool:
        """Return whether a delivery was stored."""
        statement = "SELECT 1 FROM deliveries WHERE guid = ?"
        return await self._database.read(lambda db: db.execute(statement, (guid,)).fetchone()) is not None

    async def forget_old(self, older_than: float) -> int:
        """Delete deliveries older than this many seconds that have no unfinished jobs; returns the number deleted."""
        before = self._clock() - older_than
        return await self._database.do(lambda db: _forget(db, before))

    async def _commit(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting, []
            arrivals = [arrival for arrival, _ in batch]
            now = self._clock()
            try:
                # The lambda's defaults bind this round's values, because the loop assigns the names again.
                stored = await self._database.do(lambda db, a=arrivals, n=now: _store(db, a, n))  # type: ignore[misc]
            # Whatever the error is, the waiting requests must receive it, or GitHub gets no response.
            except Exception as error:
                _fail_all(batch, error)
            else:
                for (_, future), new in zip(batch, stored, strict=True):
                    # The future of a request that was cancelled is done already, and setting it again would raise.
                    if not future.done():
                        future.set_result(new)


def _fail_all(batch: Sequence[tuple[Arrival, asyncio.Future[bool]]], error: Exception) -> None:
    for _, future in batch:
        if not future.done():
            future.set_exception(error)


def _store(db: Connection, arrivals: Sequence[Arrival], now: float) -> list[bool]:
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


def _forget(db: Connection, before: float) -> int:
    unsettled = "SELECT 1 FROM jobs WHERE jobs.guid = deliveries.guid AND jobs.state <> 'done'"
    return db.execute(
        f"DELETE FROM deliveries WHERE received_at < ? AND NOT EXISTS ({unsettled})",  # noqa: S608  no input in it
        (before,),
    ).rowcount
