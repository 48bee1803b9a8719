"""The worker process: runs jobs. Its parent (``triage serve`` or ``triage worker``) keeps its standard input open."""

import asyncio
import contextlib
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from uvicorn.loops.auto import auto_loop_factory

from bot.errors import UnreachableError, UserError
from bot.observability.logs import log_to_stderr
from bot.settings.server import ServerSettings, load_server_settings
from bot.store.databases.database import StoreError
from bot.store.databases.sqlite import SqliteStore
from bot.worker.dispatch.attempts import Dispatcher
from bot.worker.dispatch.health import OVERDUE, SILENT, ActiveAttempts, send_heartbeats
from bot.worker.dispatch.worker_process import ALIVE, DRAIN, READY, UNUSABLE
from bot.worker.worker import Worker, open_worker

NICE = 10
"""Niceness of the worker, so that the process that answers GitHub has priority."""
THREADS, THREADS_OF_A_JOB = 8, 8
"""Threads of the process, and additional threads for each concurrent job.

Python's default is six on two cores: jobs that wait for the index of one large repository would block all others.
"""

logger = logging.getLogger(__name__)


def main() -> None:
    """Work until the parent sends SIGTERM or ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches both processes; the parent decides when this one ends
    log_to_stderr()
    os.nice(NICE)
    try:
        with asyncio.Runner(loop_factory=auto_loop_factory()) as runner:
            # The first argument is the lock's descriptor: the process holds the lock by inheriting it, without any code
            # here.
            runner.run(_work(load_server_settings(), place=sys.argv[2], concurrency=int(sys.argv[3])))
    except UnreachableError as error:
        logger.error("%s", error, extra={"action": "worker_cannot_start"})  # noqa: TRY400  an outage needs no traceback
        sys.exit(1)  # the parent tries again
    except UserError as error:
        _send(UNUSABLE + " ".join(str(error).split()).encode(errors="replace") + b"\n")
        sys.exit(2)


async def _work(settings: ServerSettings, *, place: str, concurrency: int) -> None:
    async with open_worker(settings) as worker:
        dispatcher = _dispatcher(worker, place, concurrency, deadline=settings.settings.job_seconds)
        stop, ready = asyncio.Event(), asyncio.Event()
        loop = asyncio.get_running_loop()
        loop.set_default_executor(ThreadPoolExecutor(THREADS + THREADS_OF_A_JOB * concurrency))
        loop.add_signal_handler(signal.SIGTERM, stop.set)
        # A thread and not a reader of the event loop, because a worker whose loop hangs must end with its parent too.
        threading.Thread(target=_listen, args=(loop, dispatcher), daemon=True).start()
        running = asyncio.create_task(dispatcher.run(ready.set))
        background = (
            worker.run_upkeep(),
            _send_ready(ready, dispatcher.active_attempts, worker.fault),
            _report(ready, worker, place, dispatcher),
        )
        tasks = [asyncio.create_task(coroutine) for coroutine in background]
        stopped = asyncio.create_task(stop.wait())
        await asyncio.wait({stopped, running}, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
        await dispatcher.drain(DRAIN)
        stopped.cancel()
        await asyncio.wait({*tasks, running})  # all of them use the worker, which is closed next
        await running


def _dispatcher(worker: Worker, place: str, concurrency: int, *, deadline: float) -> Dispatcher:
    if isinstance(worker.store, SqliteStore):
        return Dispatcher(worker.store.jobs, worker.work, concurrency=concurrency, deadline=deadline)
    from bot.store.databases.postgres import PostgresStore  # noqa: PLC0415
    from bot.worker.dispatch.procrastinate import SharedDispatcher  # noqa: PLC0415  an extra

    if not isinstance(worker.store, PostgresStore):
        raise TypeError("a store of another kind")
    return SharedDispatcher(
        worker.store, worker.work, place=place, concurrency=concurrency, drain=DRAIN, deadline=deadline
    )


def _send(word: bytes) -> None:
    """Write to the parent."""
    sys.stdout.buffer.write(word)
    sys.stdout.buffer.flush()


async def _send_ready(ready: asyncio.Event, active_attempts: ActiveAttempts, fault: Callable[[], str]) -> None:
    """Tell the parent that the worker is ready, then send it heartbeats."""
    await ready.wait()
    _send(READY)
    # A parent that does not read must not block the event loop.
    os.set_blocking(sys.stdout.fileno(), False)
    await send_heartbeats(active_attempts, fault, _send_heartbeat)


def _send_heartbeat(oldest: float, fault: str) -> None:
    """Send a heartbeat to the parent, which must neither block the worker by not reading nor crash it by ending."""
    with contextlib.suppress(OSError):
        os.write(sys.stdout.fileno(), ALIVE + f"{oldest:.0f} {' '.join(fault.split())[:500]}\n".encode())


async def _report(ready: asyncio.Event, worker: Worker, place: str, dispatcher: Dispatcher) -> None:
    """Store heartbeats for servers that run no jobs themselves; an overdue job stops the heartbeats."""
    await ready.wait()
    while not isinstance(worker.store, SqliteStore):
        if dispatcher.active_attempts.oldest() <= OVERDUE:
            with contextlib.suppress(StoreError):  # the dispatcher reports an outage of the store
                await worker.store.leases.record(place, SILENT, await asyncio.to_thread(worker.fault))
        await asyncio.sleep(SILENT / 4)


def _listen(loop: asyncio.AbstractEventLoop, dispatcher: Dispatcher) -> None:
    """Check for jobs on every byte from the parent. End of input means that the parent was killed: exit at once."""
    while os.read(sys.stdin.fileno(), 4096):
        loop.call_soon_threadsafe(dispatcher.wake)
    # sys.exit would end only this thread, and an exit of the main thread waits for the executor's threads.
    os._exit(0)


if __name__ == "__main__":
    main()
