"""Supervise a worker process: next to the server, or alone for servers elsewhere."""

import asyncio
import contextlib
import logging
import os
import secrets
import signal
import socket
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from bot.errors import UnreachableError, UserError
from bot.files import DirectoryLock
from bot.settings.server import ServerSettings
from bot.store.databases.sqlite import open_store
from bot.store.jobs.queue import Jobs
from bot.store.tables import Store
from bot.worker.dispatch.health import HeartbeatMonitor, Outage

DRAIN = 4.0
"""Seconds in which running jobs may finish."""
GIVES_UP_AFTER = 1.5
"""Further seconds until a process is killed: it needs up to one to free the jobs that it cancelled."""
LONGEST_PAUSE = 30.0
"""Maximum seconds between two starts of a worker that keeps ending."""
_MALLOC = {
    # glibc retains memory that a thread freed for that thread: after some issues that was 120 of 240 MB.
    "MALLOC_ARENA_MAX": "2",
    "MALLOC_MMAP_THRESHOLD_": str(1 << 20),
    "MALLOC_TRIM_THRESHOLD_": str(1 << 20),
}
READY, ALIVE = b"ready\n", b"alive "
"""The child's message that it accepts jobs, and the prefix of its oldest attempt's age and its fault."""
UNUSABLE = b"unusable: "
"""The prefix of the child's message that a person must fix something before it can work at all."""

logger = logging.getLogger(__name__)
DATABASE_WAIT = 30.0
"""Seconds to wait for a database at the start."""


class WorkerProcess:
    """Runs ``python -m bot.worker.dispatch`` and restarts it when it ends.

    The child ends when its standard input does, so it does not outlive this process. Until then it holds the lock on
    the data directory too.
    """

    def __init__(
        self, jobs: Jobs, lock: int, give_up: Callable[[], None], *, concurrency: int, shared: bool = False
    ) -> None:
        """Store the settings; nothing is started.

        ``lock`` is the descriptor that the child inherits; ``give_up`` is called when the child cannot work at all;
        ``shared``: other processes work on these jobs too.
        """
        self._jobs = jobs
        self._lock = lock
        self._give_up = give_up
        self._place = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        self._concurrency = concurrency
        self._shared = shared
        self._outage = Outage()
        self.fault = ""
        """The fault that a person must fix before the child can work; empty if there is none."""
        self._process: asyncio.subprocess.Process | None = None
        self._supervisor: asyncio.Task[None] | None = None
        self._monitor = HeartbeatMonitor()

    async def not_ready(self) -> str:
        """Return why no jobs are processed; empty if they are."""
        return self._monitor.fault()

    async def start(self) -> None:
        """Free the jobs that an earlier server left in progress, and start the child."""
        # The jobs are not blamed, because the server ended and not the job. On Postgres other workers free the jobs by
        # their heartbeats.
        if not self._shared:
            await self._jobs.recover(blame=False)
        self._supervisor = asyncio.create_task(self._supervise())

    def wake(self) -> None:
        """Tell the child that a job was stored; one unread byte is enough."""
        pipe = self._process.stdin if self._process else None
        if pipe is not None and not pipe.is_closing() and pipe.transport.get_write_buffer_size() == 0:
            pipe.write(b"\n")

    async def stop(self) -> None:
        """Let running jobs finish for a few seconds, then end the process; interrupted jobs resume after a restart."""
        if self._supervisor is not None:
            self._supervisor.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._supervisor
        process = self._process
        if process is None or process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        try:
            await asyncio.wait_for(process.wait(), DRAIN + GIVES_UP_AFTER)
        except TimeoutError:
            process.kill()
            await process.wait()

    async def _supervise(self) -> None:
        pause = 0.0
        while True:
            started_at = time.monotonic()
            try:
                code: int | str = await self._run_once()
            except OSError as error:  # for example at a limit of processes, which may be over at the next try
                code = f"no start: {error.strerror or error}"
            if self.fault:
                self._give_up()
                return
            freed = await self._recovered()
            # A worker that ran for a while restarts almost at once. One that ends right after its start waits longer
            # each time.
            pause = 0.5 if time.monotonic() - started_at > LONGEST_PAUSE else min(LONGEST_PAUSE, pause * 2 or 0.5)
            logger.error("the worker ended with %s", code, extra={"action": "worker_ended", "jobs": freed})
            await asyncio.sleep(pause)

    async def _recovered(self) -> int:
        """Return the number of jobs freed. Wait while the store is unavailable; otherwise no worker would restart."""
        place = self._place if self._shared else None
        return await self._outage.outlast(partial(self._jobs.recover, blame=True, place=place))

    async def _run_once(self) -> int:
        root = str(Path(__file__).parents[3])
        paths = [root, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
        self._process = await asyncio.create_subprocess_exec(
            # -P: do not import a folder called ``bot`` from the directory in which the server was started
            *(sys.executable, "-P", "-m", "bot.worker.dispatch", str(self._lock), self._place, str(self._concurrency)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            pass_fds=(self._lock,),
            # The operator's own values take precedence over ours.
            env={**_MALLOC, **os.environ, "PYTHONPATH": os.pathsep.join(dict.fromkeys(paths))},
        )
        try:
            await self._listen(self._process)
            return await self._process.wait()
        finally:
            self._monitor.stopped()

    async def _listen(self, process: asyncio.subprocess.Process) -> None:
        """Read the child's messages until it closes its output."""
        while process.stdout is not None and (line := await process.stdout.readline()):
            self._receive(line)

    def _receive(self, line: bytes) -> None:
        if line == READY:
            self._monitor.received(0.0)
            logger.info("the worker is ready", extra={"action": "worker_ready"})
        elif line.startswith(ALIVE):
            oldest, _, fault = line.removeprefix(ALIVE).decode(errors="replace").strip().partition(" ")
            self._monitor.received(float(oldest), fault)
        elif line.startswith(UNUSABLE):
            self.fault = line.removeprefix(UNUSABLE).decode(errors="replace").strip()


def work(settings: ServerSettings, *, concurrency: int) -> None:
    """Work until a signal arrives; raises ``UserError`` if the settings or the data directory cannot be used."""
    with contextlib.ExitStack() as stack:
        fault = asyncio.run(_work(settings, opened(settings), locked(settings.data_dir, stack), concurrency))
    if fault:
        raise UserError(fault)


def opened(settings: ServerSettings, *, tidy: bool = True) -> Store:
    """Open the store, and wait for a database that is still starting; raises ``UserError`` if it cannot be used."""
    until = time.monotonic() + DATABASE_WAIT
    while True:
        try:
            return open_store(settings.settings, tidy=tidy)
        except UnreachableError as error:
            if time.monotonic() > until:
                raise
            logger.warning("%s; trying again", error, extra={"action": "store_failed"})
            # No event loop runs yet, so this blocks nothing.
            time.sleep(3.0)


def locked(directory: Path, stack: contextlib.ExitStack) -> DirectoryLock:
    """Lock the directory until the stack is closed; raises ``UserError`` if another process works there."""
    lock = DirectoryLock(directory)
    stack.callback(lock.release)
    return lock


async def _work(settings: ServerSettings, store: Store, lock: DirectoryLock, concurrency: int) -> str:
    """Work until a signal or a fault; returns the fault, or an empty string."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, stop.set)
    shared = settings.settings.database_url is not None
    worker = WorkerProcess(store.jobs, lock.descriptor, stop.set, concurrency=concurrency, shared=shared)
    await worker.start()
    try:
        await stop.wait()
    finally:
        # The worker's task uses the store, so it ends first.
        await worker.stop()
        await store.aclose()
    return worker.fault
