"""Run only the worker, beside the servers that answer GitHub, on this machine or another."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import time
from collections.abc import Callable
from pathlib import Path

from bot.dispatch.child import WorkerProcess
from bot.dispatch.lock import DirectoryLock
from bot.errors import UnreachableError, UserError
from bot.server_settings import ServerSettings
from bot.store.opening import open_store
from bot.store.tables import Store

PATIENCE = 30.0
"""Seconds to wait for a database at the start."""

logger = logging.getLogger(__name__)


def work(settings: ServerSettings, *, concurrency: int | None = None) -> None:
    """Work until a signal arrives; then let running jobs finish within ten seconds.

    Raises:
        UserError: the worker cannot run with these settings, or another worker has the data directory.
    """
    with contextlib.ExitStack() as stack:
        lock = locked(settings.data_dir, stack)
        store = opened(settings)
        fault = asyncio.run(_work(settings, store, lock, concurrency))
    if fault:
        raise UserError(fault)


def opened(settings: ServerSettings, *, tidy: bool = True) -> Store:
    """Open the store, and wait for a database that is still starting or briefly away.

    Raises:
        UserError: it cannot be used.
    """
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return open_store(settings.settings, tidy=tidy)
        except UnreachableError as error:
            if time.monotonic() > until:
                raise
            logger.warning("%s; trying again", error, extra={"action": "store_failed"})
            time.sleep(3.0)


def locked(directory: Path, stack: contextlib.ExitStack) -> DirectoryLock:
    """Lock the directory until the stack is closed: one worker at a time owns the mirrors and parsed files there.

    Raises:
        UserError: another process works in this directory, or it is not writable.
    """
    lock = DirectoryLock(directory)
    stack.callback(lock.release)
    return lock


def worker_process(
    settings: ServerSettings,
    store: Store,
    lock: DirectoryLock,
    give_up: Callable[[], None],
    concurrency: int | None = None,
) -> WorkerProcess:
    """Create the worker process without starting it."""
    return WorkerProcess(
        store.jobs,
        lock.descriptor,
        give_up,
        concurrency=concurrency or settings.settings.triage_concurrency,
        shared=settings.settings.database_url is not None,
    )


async def _work(settings: ServerSettings, store: Store, lock: DirectoryLock, concurrency: int | None) -> str:
    """Work until a signal or a fault; returns the fault, or an empty string."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, stop.set)
    worker = worker_process(settings, store, lock, stop.set, concurrency)
    await worker.start()
    try:
        await stop.wait()
    finally:
        # The worker's task uses the store, so it ends first.
        await worker.stop()
        await store.aclose()
    return worker.fault
