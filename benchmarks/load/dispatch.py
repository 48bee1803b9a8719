"""Measure the overhead of dispatching: jobs without work, by each dispatcher.

python -m benchmarks.load.dispatch --jobs 500 --rounds 10

It then measures how long the job of a killed process waits until another process starts it.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from pathlib import Path

from bot.jobs import Job, Triage
from bot.ports import IssueRef
from bot.store.databases.postgres import PostgresStore
from bot.store.databases.sqlite import SqliteStore
from bot.store.jobs.deliveries import Arrival
from bot.store.tables import Store
from bot.worker.dispatch.attempts import Dispatcher
from bot.worker.dispatch.procrastinate import SharedDispatcher
from tests.servers.postgres import serve_postgres


def main() -> None:
    """Print one line per figure."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--jobs", type=int, default=500)
    options.add_argument("--rounds", type=int, default=10, help="number of processes to kill")
    options.add_argument(
        "--hold", metavar="URL", help="claim a job in this database and hold it until this process is killed"
    )
    given = options.parse_args()
    jobs = given.jobs
    if given.hold:
        asyncio.run(_hold(given.hold))
    with tempfile.TemporaryDirectory() as folder, serve_postgres() as postgres:
        asyncio.run(_measure("embedded, SQLite", SqliteStore(Path(folder) / "store.db"), jobs))
        asyncio.run(_measure("embedded, Postgres", PostgresStore(postgres.migrated()), jobs))
        asyncio.run(_measure("procrastinate, Postgres", PostgresStore(postgres.migrated()), jobs, shared=True))
        waits = sorted(asyncio.run(_recoveries(postgres.migrated(), given.rounds)))
        print(f"restarted after a kill: {waits[len(waits) // 2]:.1f} s (median), {waits[-1]:.1f} s (maximum)")


async def _measure(what: str, store: Store, jobs: int, *, shared: bool = False) -> None:
    started, spent = time.monotonic(), time.process_time()
    for number in range(jobs):
        work = Triage(ref=IssueRef("github.com", 7, 9, "octo", "parser", number), why="opened")
        await store.inbox.accept(Arrival(f"g{number}", "issues", b"{}", (work,)))
    stored, spent = time.monotonic() - started, time.process_time() - spent
    print(f"{what:<24} stored  {1000 * stored / jobs:5.1f} ms each, {1000 * spent / jobs:4.1f} ms of CPU time here")
    if isinstance(store, PostgresStore) and shared:
        dispatcher: Dispatcher | SharedDispatcher = SharedDispatcher(
            store, store.jobs.settle, concurrency=4, place="here", drain=1.0
        )
    else:
        dispatcher = Dispatcher(store.jobs, store.jobs.settle, concurrency=4)
    started, spent = time.monotonic(), time.process_time()
    running = asyncio.create_task(dispatcher.run())
    while await store.jobs.counts():
        await asyncio.sleep(0.05)
    done, spent = time.monotonic() - started, time.process_time() - spent
    print(f"{what:<24} done    {1000 * done / jobs:5.1f} ms each, {1000 * spent / jobs:4.1f} ms of CPU time here")
    await dispatcher.drain(1.0)
    await running
    await store.aclose()


async def _hold(url: str) -> None:
    store = PostgresStore(url)

    async def forever(_job: Job) -> None:
        print("held", flush=True)
        await asyncio.sleep(3_600)

    await SharedDispatcher(store, forever, concurrency=1, place="there", drain=1.0).run()


async def _recoveries(url: str, rounds: int) -> list[float]:
    """Return the seconds from each kill until this process starts the interrupted job."""
    store, waits, started = PostgresStore(url), list[float](), asyncio.Event()

    async def settle(job: Job) -> None:
        started.set()
        await store.jobs.settle(job)

    for number in range(rounds):
        command = (sys.executable, "-m", "benchmarks.load.dispatch", "--hold", url)
        holder = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
        work = Triage(ref=IssueRef("github.com", 7, 9, "octo", "parser", number), why="opened")
        await store.inbox.accept(Arrival(f"g{number}", "issues", b"{}", (work,)))
        assert holder.stdout
        await holder.stdout.readline()
        dispatcher = SharedDispatcher(store, settle, concurrency=1, place="here", drain=1.0)
        running = asyncio.create_task(dispatcher.run())
        await asyncio.sleep(1.0)
        holder.kill()
        killed = time.monotonic()
        await started.wait()
        waits.append(time.monotonic() - killed)
        started.clear()
        await dispatcher.drain(1.0)
        await running
    await store.aclose()
    return waits


if __name__ == "__main__":
    main()
