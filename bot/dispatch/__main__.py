"""The process that works on jobs; ``triage serve`` starts it and holds its standard input open."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading

from bot.dispatch.child import DRAIN, READY, UNUSABLE
from bot.dispatch.embedded import Dispatcher
from bot.errors import UserError
from bot.logs import log_to_stderr
from bot.server_settings import ServerSettings, load_server_settings
from bot.worker import open_worker

NICE = 10
"""The one that answers GitHub goes first."""


def main() -> None:
    """Work until the parent says stop, or is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches both; the parent says when to end
    log_to_stderr()
    os.nice(NICE)
    try:
        asyncio.run(_work(load_server_settings()))
    except UserError as error:
        _say(UNUSABLE + " ".join(str(error).split()).encode(errors="replace") + b"\n")
        sys.exit(2)


async def _work(settings: ServerSettings) -> None:
    async with open_worker(settings) as worker:
        dispatcher = Dispatcher(worker.jobs, worker.work, concurrency=settings.settings.triage_concurrency)
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, stop.set)
        threading.Thread(target=_listen, args=(loop, dispatcher), daemon=True).start()
        running = asyncio.create_task(dispatcher.run())
        upkeep = asyncio.create_task(worker.keep_up())
        _say(READY)
        stopped = asyncio.create_task(stop.wait())
        await asyncio.wait({stopped, running}, return_when=asyncio.FIRST_COMPLETED)
        upkeep.cancel()
        await dispatcher.drain(DRAIN)
        stopped.cancel()
        await running


def _say(word: bytes) -> None:
    """To the parent."""
    sys.stdout.buffer.write(word)
    sys.stdout.buffer.flush()


def _listen(loop: asyncio.AbstractEventLoop, dispatcher: Dispatcher) -> None:
    """Every word from the parent means: look again. The end of them means that it was killed: nothing is waited for."""
    while os.read(sys.stdin.fileno(), 4096):
        loop.call_soon_threadsafe(dispatcher.wake)
    os._exit(0)


if __name__ == "__main__":
    main()
