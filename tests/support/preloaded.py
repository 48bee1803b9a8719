"""Starts ``python -m bot`` from a process that has imported it already: imports are most of what a short command costs.

Each start is a process of its own, forked, with its own arguments, environment, folder, streams and exit code. The
processes share one hash seed, so tests of determinism, and those of the start itself, start a fresh interpreter.

The helper processes that parse files for the search are forked too: from a small process that has only imported their
module, because a helper limits its address space. Tests of the helpers start fresh interpreters.

A forked server also has its worker process forked: by a second forking process, a child of the server that is named
``FORKER`` and ends with it.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import fcntl
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
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic import BaseModel

_LONGEST = 1 << 20
"""Maximum bytes of a request or a response."""
_PASSED, _CWD, _ENV, _STREAMS, _NEW_SESSION = 4, 5, 6, (10, 13, 15), 21
"""Positions among the arguments of ``Popen._execute_child``, the same in Python 3.11 to 3.13."""
FORKER = "forker"
"""The name, as /proc has it, of the process that forks the workers of a server."""
HELPER = "nodes.search.languages.helper"
GIT_LIMITS = "TESTED_GIT_LIMITS"
"""The variable with the fields of ``ReadLimits`` that shall differ, as JSON, in a forked command or server."""
AT_ONCE = "at-once"
"""Tells a forking process to import before it is asked for anything."""
_LATE = (
    *("anyio._backends._asyncio", "httpcore", "langchain_openai", "mcp", "numpy.ma", "procrastinate.worker", "uvloop"),
    *("jiter", "langchain_core.messages.block_translators.langchain_v0", "langchain_core.tracers.stdout"),
    *("openai.lib.streaming.chat", "openai.resources.chat.completions", "uvicorn.lifespan.on", "uvicorn.loops.uvloop"),
)
"""Modules that are imported by the first use: of a network, a model, a tool, a database."""
_START_WORKERS = ("serve", "worker")
_WORKER = "bot.worker.dispatch"
_MAX_PASSED = 8
"""Most file descriptors of a request."""
_HIGH = 200
"""Lowest number for descriptors that move out of the way of those that a process shall have."""


class Forked(subprocess.Popen[Any]):
    """A process that is forked from one that has imported everything; otherwise like any other."""

    imported = ""
    """The module that the forking process has imported; everything if empty."""

    def _execute_child(self, args: list[str], *given: Any) -> None:
        everything = (args, *given)
        streams = [everything[at] if everything[at] != -1 else usual for usual, at in enumerate(_STREAMS)]
        passed = sorted(everything[_PASSED])
        wish = {
            "descriptors": [0, 1, 2, *passed],
            "argv": args,
            "cwd": os.fspath(everything[_CWD] or os.getcwd()),
            "env": dict(os.environ if everything[_ENV] is None else everything[_ENV]),
            "session": bool(everything[_NEW_SESSION]),
            "starter": os.getpid(),
        }
        self._parent = _parent(self.imported)
        self.pid = self._parent.start(wish, [*streams, *passed])
        self._child_created = True
        self._close_pipe_fds(*everything[10:16])  # type: ignore[attr-defined]

    def _internal_poll(self, *_given: Any, **_named: Any) -> int | None:
        self._try_wait(os.WNOHANG)
        return self.returncode

    def _try_wait(self, flags: int) -> tuple[int, int]:
        status = self._parent.status(self.pid, wait=not flags)
        if status is None:
            return 0, 0
        if self.returncode is None:
            self._handle_exitstatus(status)  # type: ignore[attr-defined]
        return self.pid, status


class ForkedHelper(Forked):
    """A helper process of the parsers."""

    imported = HELPER


class Parent:
    """The forking process, seen from the test session."""

    def __init__(self, connection: socket.socket, process: subprocess.Popen[Any] | None = None) -> None:
        self._socket = connection
        self._process = process  # an object that is dropped before its process ends is a warning
        self._started: list[int] = []
        self._ended: dict[int, int] = {}
        self.gone = False
        self._news = threading.Condition()
        self._one_at_a_time = threading.Lock()
        threading.Thread(target=self._listen, daemon=True).start()
        atexit.register(self._socket.close)

    def start(self, wish: dict[str, Any], descriptors: list[int]) -> int:
        """Start a process; return its id."""
        with self._one_at_a_time:
            socket.send_fds(self._socket, [json.dumps(wish).encode()], descriptors)
            with self._news:
                assert self._news.wait_for(lambda: self._started, 300.0), "nothing was started"
                return self._started.pop()

    def status(self, pid: int, *, wait: bool) -> int | None:
        """Return the status with which a process ended, as from ``os.waitpid``; None while it runs."""
        with self._news:
            if wait:
                self._news.wait_for(lambda: pid in self._ended or self.gone)
            return self._ended.get(pid, signal.SIGKILL if self.gone else None)

    def _listen(self) -> None:
        with contextlib.suppress(OSError):
            while message := self._socket.recv(_LONGEST):
                event, pid, status = json.loads(message)
                with self._news:
                    if event == "started":
                        # Here and not in ``start``: a short process may have ended before that thread runs again.
                        self._ended.pop(pid, None)
                        self._started.append(pid)
                    else:
                        self._ended[pid] = status
                    self._news.notify_all()
        with self._news:
            self.gone = True
            self._news.notify_all()


def begin_for(number: int, *, at_once: bool = False) -> list[dict[str, socket.socket]]:
    """Start the forking processes for several processes of tests, so that they import once; nothing runs in threads.

    Args:
        number: how many processes of tests there will be.
        at_once: whether they import now, and not at the first request, which few tests may never make.

    Returns:
        What to give to ``take`` in each process of tests.
    """
    begun = {imported: _begin(imported, number, at_once=at_once) for imported in ("", HELPER)}
    _started.extend(process for _, process in begun.values())
    return [{imported: sockets[at] for imported, (sockets, _) in begun.items()} for at in range(number)]


def take(given: dict[str, socket.socket]) -> None:
    """Use these forking processes in this process of tests."""
    _given.update(given)


def _begin(
    imported: str, number: int = 1, *, at_once: bool = False
) -> tuple[list[socket.socket], subprocess.Popen[Any]]:
    """Start the process that imports a module, or everything, and forks."""
    pairs = [_connected() for _ in range(number)]
    theirs = [there.fileno() for _, there in pairs]
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.support.preloaded", imported, AT_ONCE if at_once else "", *map(str, theirs)],
        pass_fds=theirs,
        cwd=Path(__file__).parents[2],
        start_new_session=True,
    )
    for _, there in pairs:
        there.close()
    return [ours for ours, _ in pairs], process


def _connected() -> tuple[socket.socket, socket.socket]:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    for end in (ours, theirs):
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _LONGEST)
    return ours, theirs


_parents: dict[str, Parent] = {}
_parents_lock = threading.Lock()
_given: dict[str, socket.socket] = {}
_started: list[subprocess.Popen[Any]] = []


def _parent(imported: str = "") -> Parent:
    with _parents_lock:
        if imported not in _parents:
            if imported in _given:
                _parents[imported] = Parent(_given.pop(imported))
            else:
                (ours,), process = _begin(imported)
                _parents[imported] = Parent(ours, process)
        return _parents[imported]


def import_all() -> None:
    """Import what servers and commands need, and prepare what they store for the process."""
    from pydantic import BaseModel

    import bot
    import nodes
    from tests.support import certificates

    certificates.read_once()
    for name in (*_LATE, "tests.support.inline_helper"):
        import_module(name)
    for package in (bot, nodes):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith("__main__"):
                with contextlib.suppress(ImportError):  # an extra that is not installed
                    import_module(module.name)
    from bot.report.languages.catalogue import Translator
    from bot.report.languages.codes import LANGUAGES
    from nodes.graph import build_graph

    build_graph()  # kept for the process, as the sentences are
    _load_grammars()
    _compile_patterns()
    for language in LANGUAGES:
        Translator(language)("this file")
    _build_models(BaseModel)


def _compile_patterns() -> None:
    """Compile the patterns that a run compiles at their first use, half of its processor time, and load its models."""
    from nodes.brains.rules.investigate import acting_kind
    from nodes.issue.facts import read_facts
    from nodes.search.lazy import LazyPattern

    for found in gc.get_objects():
        if type(found) is LazyPattern:
            assert found.compiled
    acting_kind("It fails", "It should not.", read_facts("It fails", "It should not."))


def _load_grammars() -> None:
    """Compile the queries of every grammar, which takes longer than most files of a test take to parse."""
    from nodes.search.languages import syntax
    from nodes.search.languages.table import LANGUAGES

    for language in LANGUAGES:
        if language.package:
            vars(syntax)["_loaded"](language)


def _build_models(base: type[BaseModel]) -> None:
    """Build the validators of our models, which a process otherwise builds at the first use of each."""
    for model in base.__subclasses__():
        if not model.__pydantic_complete__ and model.__module__.startswith(("bot.", "nodes.")):
            model.model_rebuild()
        _build_models(model)


def _wanted(sockets: list[socket.socket]) -> list[socket.socket]:
    """Wait for the first request; return the connections to the processes of tests that have not ended by then."""
    from select import select

    while sockets:
        for ready in select(sockets, [], [])[0]:
            if ready.recv(1, socket.MSG_PEEK):
                return sockets
            sockets.remove(ready)
            ready.close()
    return sockets


def _divided(sockets: list[socket.socket]) -> socket.socket:
    """Fork until each process has one connection; return it."""
    while len(sockets) > 1:
        own = sockets.pop()
        if os.fork() == 0:
            for other in sockets:
                other.close()
            return own
        own.close()
    return sockets[0]


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
        message, streams = _received(wishes)
        if not message:
            return None
        pid = os.fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            # A shell's background jobs ignore Ctrl-C, and a fork would inherit that; a command in a terminal does not.
            signal.signal(signal.SIGINT, signal.default_int_handler)
            for fd in (ended, wakes):
                os.close(fd)
            wishes.close()
            wish: dict[str, Any] = json.loads(message)
            _place(streams, wish["descriptors"])
            return wish
        for stream in streams:
            os.close(stream)
        wishes.send(json.dumps(["started", pid, 0]).encode())


def _received(wishes: socket.socket) -> tuple[bytes, list[int]]:
    """Return a request; an empty one at the end of the process of tests, which may not have read everything."""
    with contextlib.suppress(ConnectionResetError):
        return socket.recv_fds(wishes, _LONGEST, _MAX_PASSED)[:2]
    return b"", []


def _place(descriptors: list[int], numbers: list[int]) -> None:
    """Duplicate open descriptors to the given numbers."""
    moved = [fcntl.fcntl(fd, fcntl.F_DUPFD, _HIGH) for fd in descriptors]
    for fd in descriptors:
        os.close(fd)
    for fd, number in zip(moved, numbers, strict=True):
        os.dup2(fd, number)
        os.close(fd)


def _reap(wishes: socket.socket) -> None:
    with contextlib.suppress(ChildProcessError, BrokenPipeError, ConnectionResetError):
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
    if sys.argv[0] == HELPER:
        _appear_started_by(wish["starter"])
    else:
        from tests.support import inline_helper

        inline_helper.use()
        _limit_git(os.environ.get(GIT_LIMITS, ""))
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


def _limit_git(limits: str) -> None:
    """Limit what git reads by numbers below the defaults, which a bomb takes over a minute to use up."""
    if limits:
        from nodes.search.git import repository, running

        vars(repository)["ReadLimits"] = partial(running.ReadLimits, **json.loads(limits))


def _appear_started_by(starter: int) -> None:
    """Let a helper see the process that started it as its parent, until the forking process ends with that one."""
    forker, real = os.getppid(), os.getppid
    os.getppid = lambda: starter if real() == forker else real()


def _starts_workers(argv: list[str]) -> bool:
    at = argv.index("-m")
    return argv[at + 1] == "bot" and any(word in _START_WORKERS for word in argv[at + 2 : at + 3])


def _with_forker(wish: dict[str, Any]) -> dict[str, Any]:
    """Fork a process that forks the workers of a server; returns the server's request, and in a worker the worker's."""
    ours, theirs = _connected()
    if os.fork() == 0:
        ours.close()
        _place(
            [os.open(os.devnull, os.O_RDWR) for _ in range(3)], [0, 1, 2]
        )  # its server's streams end with the server
        comm = Path("/proc/self/comm")
        name = comm.read_text()
        comm.write_text(FORKER)
        worker = _serve(theirs)
        if worker is None:
            os._exit(0)
        comm.write_text(name)
        return worker
    theirs.close()
    parent = Parent(ours)
    _parents[""] = parent
    usual = asyncio.create_subprocess_exec

    async def forked(*command: Any, **given: Any) -> Any:
        if _WORKER not in command or parent.gone:
            return await usual(*command, **given)
        return await Worker.start(command, given)

    asyncio.create_subprocess_exec = forked
    return wish


class Worker:
    """A forked process with the part of ``asyncio.subprocess.Process`` that a server uses."""

    def __init__(self, process: Forked, stdin: asyncio.StreamWriter, stdout: asyncio.StreamReader) -> None:
        self.stdin, self.stdout = stdin, stdout
        self.pid = process.pid
        self.terminate, self.kill = process.terminate, process.kill
        self.returncode: int | None = None
        self._process = process
        self._ended = asyncio.Event()
        threading.Thread(target=self._wait, args=(asyncio.get_running_loop(),), daemon=True).start()

    @classmethod
    async def start(cls, command: tuple[str, ...], given: dict[str, Any]) -> Worker:
        """Start a process whose input and output are pipes."""
        process = Forked(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=given["pass_fds"], env=given["env"]
        )
        loop, reader = asyncio.get_running_loop(), asyncio.StreamReader()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), process.stdout)
        writing, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, process.stdin)
        return cls(process, asyncio.StreamWriter(writing, protocol, None, loop), reader)

    async def wait(self) -> int:
        """Wait for its end; returns its exit code."""
        await self._ended.wait()
        assert self.returncode is not None
        return self.returncode

    def _wait(self, loop: asyncio.AbstractEventLoop) -> None:
        code = self._process.wait()
        with contextlib.suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(self._end, code)

    def _end(self, code: int) -> None:
        self.returncode = code
        self._ended.set()


def _run(module: str) -> None:
    """Run the command and end the process, without deleting all that was imported: that copies every page of it."""
    code: Any = None
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        code = ended.code
    # As at the end of every interpreter, which says so if somebody no longer reads what it writes.
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        sys.exit(code)
    if code is None or isinstance(code, int):
        os._exit((code or 0) & 0xFF)
    sys.exit(code)


def _main(imported: str, when: str, descriptors: list[str]) -> dict[str, Any] | None:
    sockets = [socket.socket(fileno=int(fd)) for fd in descriptors]
    if when != AT_ONCE:
        sockets = _wanted(sockets)
    if not sockets:
        return None
    if imported:
        import_module(imported)
        _load_grammars()
    else:
        import_all()
    gc.collect()
    gc.freeze()
    wish = _serve(_divided(sockets))
    return _with_forker(wish) if wish is not None and _starts_workers(wish["argv"]) else wish


if __name__ == "__main__":
    wished = _main(sys.argv[1], sys.argv[2], sys.argv[3:])
    if wished is not None:
        _become(wished)
        _run(sys.argv[0])
