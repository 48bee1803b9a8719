"""Code that a process of its own reads, while its parent imports the libraries of the graph."""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import os
import signal
import sys
import threading
import traceback
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

from bot.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from concurrent.futures import Future
    from multiprocessing.connection import Connection

    from nodes.context.ports import CodePort


def is_possible() -> bool:
    """Return whether a copy of this process can go on: locks of other threads and macOS's libraries prevent it."""
    return sys.platform == "linux" and threading.active_count() == 1


class CodeApart:
    """The methods of a ``CodePort``, each answered by a copy of this process, one after the other.

    Arguments, answers and errors are pickled, and only between the two processes.
    """

    def __init__(self, code: CodePort) -> None:
        """Start the process; it ends with ``close``, with this process, or at Ctrl-C."""
        self.sha = code.sha
        context = multiprocessing.get_context("fork")
        self._ours, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(code, theirs, self._ours), daemon=True)
        self._process.start()
        theirs.close()
        self._thread = ThreadPoolExecutor(1)
        self._ahead: list[tuple[str, tuple[object, ...], Future[Any]]] = []

    def ask_ahead(self, method: str, *given: object) -> Future[Any]:
        """Call a method whose result does not change, so that later calls do not wait for those in between."""
        future = self._thread.submit(self._ask, method, *given)
        self._ahead.append((method, given, future))
        return future

    def __getattr__(self, method: str) -> Callable[..., Coroutine[Any, Any, Any]]:
        """Return a method of the port."""
        return partial(self._answer, method)

    def close(self) -> None:
        """End the process, whatever it does."""
        self._process.terminate()
        self._thread.shutdown(cancel_futures=True)
        self._process.join()
        self._ours.close()

    async def _answer(self, method: str, *given: object) -> Any:
        ahead = (future for name, same, future in self._ahead if (name, same) == (method, given))
        return await asyncio.wrap_future(next(ahead, None) or self._thread.submit(self._ask, method, *given))

    def _ask(self, method: str, *given: object) -> Any:
        try:
            self._ours.send((method, given))
            answer, error = self._ours.recv()
        except (EOFError, ConnectionError) as ended:
            raise UserError("the process that reads the code was killed: the memory may not suffice") from ended
        if error is not None:
            raise error
        return answer


def _serve(code: CodePort, theirs: Connection, ours: Connection) -> None:
    """Answer until the parent closes its side or ends."""
    # Ctrl-C reaches both processes, and only the parent has something to say about it, unless it ignores it.
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    ours.close()
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with asyncio.Runner() as runner, contextlib.suppress(EOFError):
        while True:
            method, given = theirs.recv()
            answer, failed = None, None
            try:
                answer = runner.run(getattr(code, method)(*given))
            except Exception as error:
                error.add_note("".join(traceback.format_exception(error)))
                failed = error
            theirs.send((answer, failed))


def _end_with_parent() -> None:
    """End even during a long search, whose result is not read."""
    if (parent := multiprocessing.parent_process()) is not None:
        parent.join()
        os._exit(0)
