"""What having a job done costs besides doing it: jobs that do nothing, by each dispatcher.

python -m tests.load.dispatch --jobs 500
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from pathlib import Path

from bot.dispatch.embedded import Dispatcher
from bot.dispatch.procrastinate import SharedDispatcher
from bot.jobs import Triage
from bot.ports import IssueRef
from bot.store.deliveries import Arrival
from bot.store.postgres import PostgresStore
from bot.store.sqlite import SqliteStore
from bot.store.tables import Store
from tests.postgres import serve_postgres


def main() -> None:
    """Print a line for each."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--jobs", type=int, default=500)
    jobs = options.parse_args().jobs
    with tempfile.TemporaryDirectory() as folder, serve_postgres() as postgres:
        asyncio.run(_measure("embedded, SQLite", SqliteStore(Path(folder) / "store.db"), jobs))
        asyncio.run(_measure("embedded, Postgres", PostgresStore(postgres.migrated()), jobs))
        asyncio.run(_measure("procrastinate, Postgres", PostgresStore(postgres.migrated()), jobs, shared=True))


async def _measure(what: str, store: Store, jobs: int, *, shared: bool = False) -> None:
    began, spent = time.monotonic(), time.process_time()
    for number in range(jobs):
        work = Triage(ref=IssueRef("github.com", 7, 9, "octo", "parser", number), why="opened")
        await store.inbox.accept(Arrival(f"g{number}", "issues", b"{}", (work,)))
    stored, spent = time.monotonic() - began, time.process_time() - spent
    print(f"{what:<24} stored  {1000 * stored / jobs:5.1f} ms each, {1000 * spent / jobs:4.1f} ms of processor here")
    if isinstance(store, PostgresStore) and shared:
        dispatcher: Dispatcher | SharedDispatcher = SharedDispatcher(
            store, store.jobs.settle, concurrency=4, place="here", drain=1.0
        )
    else:
        dispatcher = Dispatcher(store.jobs, store.jobs.settle, concurrency=4)
    began, spent = time.monotonic(), time.process_time()
    running = asyncio.create_task(dispatcher.run())
    while await store.jobs.counts():
        await asyncio.sleep(0.05)
    done, spent = time.monotonic() - began, time.process_time() - spent
    print(f"{what:<24} done    {1000 * done / jobs:5.1f} ms each, {1000 * spent / jobs:4.1f} ms of processor here")
    await dispatcher.drain(1.0)
    await running
    await store.aclose()


if __name__ == "__main__":
    main()
