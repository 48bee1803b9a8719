"""Starts ``python -m bot`` from a process that has imported it already: imports are most of what a short command costs.

Each start is a process of its own, forked, with its own arguments, environment, folder, streams and exit code. The
processes share one hash seed, so tests of determinism, and those of the start itself, start a fresh interpreter.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import io
import json
import os
import pkgutil
import runpy
import signal
import socket
import subprocess
import sys
import threading
from importlib import import_module
from pathlib import Path
from typing import Any

_LONGEST = 1 << 20
"""Maximum bytes of a request or a response."""
_CWD, _ENV, _STREAMS, _NEW_SESSION = 5, 6, (10, 13, 15), 21
"""Positions among the arguments of ``Popen._execute_child``, the same in Python 3.11 to 3.13."""


class Forked(subprocess.Popen[Any]):
    """A process that is forked from one that has imported everything; otherwise like any other."""

    def _execute_child(self, args: list[str], *given: Any) -> None:
        everything = (args, *given)
        streams = [everything[at] if everything[at] != -1 else usual for usual, at in enumerate(_STREAMS)]
        wish = {
            "argv": args,
            "cwd": os.fspath(everything[_CWD] or os.getcwd()),
            "env": dict(os.environ if everything[_ENV] is None else everything[_ENV]),
            "session": bool(everything[_NEW_SESSION]),
        }
        self.pid = _parent().start(wish, streams)
        self._child_created = True
        self._close_pipe_fds(*everything[10:16])  # type: ignore[attr-defined]

    def _internal_poll(self, *_given: Any, **_named: Any) -> int | None:
        self._try_wait(os.WNOHANG)
        return self.returncode

    def _try_wait(self, flags: int) -> tuple[int, int]:
        status = _parent().status(self.pid, wait=not flags)
        if status is None:
            return 0, 0
        if self.returncode is None:
            self._handle_exitstatus(status)  # type: ignore[attr-defined]
        return self.pid, status


class Parent:
    """The forking process, seen from the test session."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        for end in (ours, theirs):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _LONGEST)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.preloaded", str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                cwd=Path(__file__).parents[1],
                start_new_session=True,
            )
        self._socket = ours
        self._started: list[int] = []
        self._ended: dict[int, int] = {}
        self._news = threading.Condition()
        self._one_at_a_time = threading.Lock()
        threading.Thread(target=self._listen, daemon=True).start()
        atexit.register(self._socket.close)

    def start(self, wish: dict[str, Any], streams: list[int]) -> int:
        """Start a process; return its id."""
        with self._one_at_a_time:
            socket.send_fds(self._socket, [json.dumps(wish).encode()], streams)
            with self._news:
                assert self._news.wait_for(lambda: self._started, 300.0), "nothing was started"
                pid = self._started.pop()
                self._ended.pop(pid, None)
                return pid

    def status(self, pid: int, *, wait: bool) -> int | None:
        """Return the status with which a process ended, as from ``os.waitpid``; None while it runs."""
        with self._news:
            if wait:
                self._news.wait_for(lambda: pid in self._ended)
            return self._ended.get(pid)

    def _listen(self) -> None:
        with contextlib.suppress(OSError):
            while told := self._socket.recv(_LONGEST):
                event, pid, status = json.loads(told)
                with self._news:
                    if event == "started":
                        self._started.append(pid)
                    else:
                        self._ended[pid] = status
                    self._news.notify_all()


_parents: list[Parent] = []
_parents_lock = threading.Lock()


def _parent() -> Parent:
    with _parents_lock:
        if not _parents:
            _parents.append(Parent())
        return _parents[0]


def _import_all() -> None:
    import bot
    import nodes

    for package in (bot, nodes):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith("__main__"):
                with contextlib.suppress(ImportError):  # an extra that is not installed
                    import_module(module.name)


def _serve(wishes: socket.socket) -> dict[str, Any] | None:
    """Fork for each request; return None at the end of the session, and the request in each forked process."""
    ended, wakes = os.pipe()
    os.set_blocking(wakes, False)
    signal.set_wakeup_fd(wakes)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    from select import select

    watched: list[Any] = [wishes, ended]
    while True:
        ready, _, _ = select(watched, [], [])
        if ended in ready:
            os.read(ended, 4096)
            _reap(wishes)
        if wishes not in ready:
            continue
        said, streams, _, _ = socket.recv_fds(wishes, _LONGEST, 3)
        if not said:
            return None
        pid = os.fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            # A shell's background jobs ignore Ctrl-C, and a fork would inherit that; a command in a terminal does not.
            signal.signal(signal.SIGINT, signal.default_int_handler)
            for at, stream in enumerate(streams):
                os.dup2(stream, at)
            for fd in (*streams, ended, wakes):
                os.close(fd)
            wishes.close()
            wish: dict[str, Any] = json.loads(said)
            return wish
        for stream in streams:
            os.close(stream)
        wishes.send(json.dumps(["started", pid, 0]).encode())


def _reap(wishes: socket.socket) -> None:
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            wishes.send(json.dumps(["ended", pid, status]).encode())


def _become(wish: dict[str, Any]) -> None:
    """Set the arguments, the environment and the streams that a fresh interpreter would have."""
    if wish["session"]:
        os.setsid()
    os.environ.clear()
    os.environ.update(wish["env"])
    os.chdir(wish["cwd"])
    at = wish["argv"].index("-m")
    sys.argv = wish["argv"][at + 1 :]
    sys.stdin = io.TextIOWrapper(open(0, "rb", closefd=False), encoding="utf-8")  # noqa: SIM115
    sys.stdout, sys.stderr = (
        io.TextIOWrapper(
            open(fd, "wb", closefd=False),  # noqa: SIM115
            encoding="utf-8",
            errors=errors,
            line_buffering=fd == 2 or os.isatty(fd),
        )
        for fd, errors in ((1, "strict"), (2, "backslashreplace"))
    )


if __name__ == "__main__":
    _import_all()
    gc.collect()
    gc.freeze()
    wished = _serve(socket.socket(fileno=int(sys.argv[1])))
    if wished is not None:
        _become(wished)
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
