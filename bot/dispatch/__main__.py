"""The process that works on jobs; ``triage serve`` starts it and holds its standard input open."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

from uvicorn.loops.auto import auto_loop_factory

from bot.dispatch.child import DRAIN, READY, UNUSABLE
from bot.dispatch.embedded import Dispatcher
from bot.errors import UnreachableError, UserError
from bot.logs import log_to_stderr
from bot.server_settings import ServerSettings, load_server_settings
from bot.store.sqlite import SqliteStore
from bot.worker import Worker, open_worker

NICE = 10
"""The one that answers GitHub goes first."""
THREADS, THREADS_OF_A_JOB = 8, 8
"""Threads of the process, and more for each job. Python's default is six on two cores: jobs that wait for the index of
one large repository would hold up every other repository."""

logger = logging.getLogger(__name__)


class Dispatching(Protocol):
    """Has jobs done."""

    def wake(self) -> None:
        """Something was stored."""

    async def run(self, ready: Callable[[], None]) -> None:
        """Work until drained; ``ready`` is called once that is possible."""

    async def drain(self, seconds: float) -> None:
        """Come to an end."""


def main() -> None:
    """Work until the parent says stop, or is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches both; the parent says when to end
    log_to_stderr()
    os.nice(NICE)
    try:
        with asyncio.Runner(loop_factory=auto_loop_factory()) as runner:
            runner.run(_work(load_server_settings(), place=sys.argv[2], concurrency=int(sys.argv[3])))
    except UnreachableError as error:
        logger.error("%s", error, extra={"action": "worker_cannot_start"})  # noqa: TRY400  no traceback of what is away
        sys.exit(1)  # the parent tries again
    except UserError as error:
        _say(UNUSABLE + " ".join(str(error).split()).encode(errors="replace") + b"\n")
        sys.exit(2)


async def _work(settings: ServerSettings, *, place: str, concurrency: int) -> None:
    async with open_worker(settings) as worker:
        dispatcher = _dispatcher(worker, place, concurrency, deadline=settings.settings.triage_job_minutes * 60)
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        loop.set_default_executor(ThreadPoolExecutor(THREADS + THREADS_OF_A_JOB * concurrency))
        loop.add_signal_handler(signal.SIGTERM, stop.set)
        threading.Thread(target=_listen, args=(loop, dispatcher), daemon=True).start()
        running = asyncio.create_task(dispatcher.run(lambda: _say(READY)))
        upkeep = asyncio.create_task(worker.keep_up())
        stopped = asyncio.create_task(stop.wait())
        await asyncio.wait({stopped, running}, return_when=asyncio.FIRST_COMPLETED)
        upkeep.cancel()
        await dispatcher.drain(DRAIN)
        stopped.cancel()
        await running


def _dispatcher(worker: Worker, place: str, concurrency: int, *, deadline: float) -> Dispatching:
    if isinstance(worker.store, SqliteStore):
        return Dispatcher(worker.jobs, worker.work, concurrency=concurrency, deadline=deadline)
    from bot.dispatch.procrastinate import SharedDispatcher  # noqa: PLC0415  an extra
    from bot.store.postgres import PostgresStore  # noqa: PLC0415

    if not isinstance(worker.store, PostgresStore):
        raise TypeError("a store of another kind")
    return SharedDispatcher(
        worker.store, worker.work, concurrency=concurrency, place=place, drain=DRAIN, deadline=deadline
    )


def _say(word: bytes) -> None:
    """To the parent."""
    sys.stdout.buffer.write(word)
    sys.stdout.buffer.flush()


def _listen(loop: asyncio.AbstractEventLoop, dispatcher: Dispatching) -> None:
    """Every word from the parent means: look again. The end of them means that it was killed: nothing is waited for."""
    while os.read(sys.stdin.fileno(), 4096):
        loop.call_soon_threadsafe(dispatcher.wake)
    os._exit(0)


if __name__ == "__main__":
    main()
