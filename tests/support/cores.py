"""Option ``--cores N``: one process imports and collects every test and forks N that run them, a file at a time.

The processes of pytest-xdist import and collect everything once each, which takes as much processor time as a tenth of
all tests. They still measure coverage. A process that dies fails the test that it ran, and another one takes its place.

Half of the processes take files from the beginning of the list, the others from its end. So files that mostly wait run
beside files that compute, if the list begins with the first and ends with the second, and short files come last.
"""

from __future__ import annotations

import contextlib
import faulthandler
import mmap
import os
import signal
import socket
import threading
import traceback
import warnings
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing import Pipe, reduction
from multiprocessing.connection import Connection, wait
from typing import Any, NoReturn

import pytest

from tests.support import preloaded

_OUTPUTS = ("out", "err")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    parser.addoption("--cores", type=int, default=0, metavar="N", help="run the tests in N forked processes")


def pytest_configure(config: pytest.Config) -> None:
    """Take over the loop if the option was given."""
    option = config.option
    if not option.cores or option.usepdb or option.collectonly:
        return
    if getattr(option, "numprocesses", None) or getattr(option, "cov_source", None):
        raise pytest.UsageError("--cores excludes -n and --cov: measure coverage with -n")
    config.pluginmanager.register(Cores(option.cores), "cores")


@dataclass(eq=False)
class Worker:
    """A forked process, seen from the one that collected."""

    pid: int
    connection: Connection
    outputs: list[int]
    """The files that receive what the current test prints."""
    from_end: bool
    """Whether it takes files from the end of the list."""
    file: str = ""
    next: int = 0
    """Position in its file of the test that it runs."""
    broken: str = ""


class Cores:
    """Hands out files of tests and receives the reports."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._files: dict[str, list[pytest.Item]] = {}
        self._waiting: deque[tuple[str, int]] = deque()
        self._workers: dict[Connection, Worker] = {}
        # Shared with the workers, which look at it before each test.
        self._stop = mmap.mmap(-1, 1)
        self._forking: list[dict[str, socket.socket]] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self, session: pytest.Session) -> None:
        """Let another core import what servers and commands need while this one collects, if all tests will run."""
        if session.config.args_source is pytest.Config.ArgsSource.TESTPATHS:
            self._forking = preloaded.begin_for(self._number, at_once=True)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_finish(self) -> None:
        """Import what tests import late, a model's client above all, once and not in each process."""
        if self._forking:
            preloaded.import_all()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Run all tests in forked processes."""
        if session.testsfailed:
            return None  # collection failed: pytest's own loop says so
        self._session, self._config = session, session.config
        for item in session.items:
            self._files.setdefault(item.nodeid.partition("::")[0], []).append(item)
        self._waiting.extend((file, 0) for file in self._files)
        session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
        number = min(self._number, len(self._files))
        self._forking = self._forking or preloaded.begin_for(number)
        with self._ending():
            for _ in range(number):
                self._fork()
            while self._workers:
                for connection in self._ready():
                    self._hear(self._workers[connection])
                if session.shouldfail or session.shouldstop:
                    self._stop[0] = 1
        if session.shouldfail:
            raise session.Failed(session.shouldfail)
        if session.shouldstop:
            raise session.Interrupted(session.shouldstop)
        return True

    @contextlib.contextmanager
    def _ending(self) -> Iterator[None]:
        """Wait for the workers if the loop is interrupted: they end what their tests started. Twice kills them."""
        try:
            yield
        except BaseException:
            self._stop[0] = 1
            try:
                while self._workers:
                    for connection in self._ready():
                        with contextlib.suppress(EOFError, OSError):
                            connection.recv()
                            continue
                        self._reap(self._workers.pop(connection))
            except KeyboardInterrupt:
                for worker in self._workers.values():
                    os.kill(worker.pid, signal.SIGKILL)
            raise

    def _ready(self) -> list[Connection]:
        return [connection for connection in wait(list(self._workers)) if isinstance(connection, Connection)]

    def _fork(self) -> None:
        threads = [thread.name for thread in threading.enumerate() if thread is not threading.main_thread()]
        assert not threads, f"a fork would copy the locks that these threads hold: {threads}"
        ours, theirs = Pipe()
        self._config.get_terminal_writer().flush()
        with warnings.catch_warnings():
            # Python 3.12 counts the threads of numpy's library, which stops them before a fork.
            warnings.simplefilter("ignore", DeprecationWarning)
            pid = os.fork()
        if pid == 0:
            foreign: list[Connection | socket.socket] = [ours, *self._workers, *_sockets(self._forking[1:])]
            for other in foreign:
                other.close()
            # One that replaces another starts forking processes of its own.
            preloaded.take(self._forking[0] if self._forking else {})
            _Work(self._session, theirs, self._stop, self._files).do()
        theirs.close()
        for given in _sockets(self._forking[:1]):
            given.close()
        del self._forking[:1]
        outputs = [reduction.recv_handle(ours) for _ in _OUTPUTS] if _captures(self._config) else []
        from_end = 2 * sum(worker.from_end for worker in self._workers.values()) < len(self._workers)
        self._workers[ours] = Worker(pid, ours, outputs, from_end)

    def _hear(self, worker: Worker) -> None:
        try:
            kind, *said = worker.connection.recv()
        except (EOFError, OSError):
            del self._workers[worker.connection]
            self._end(worker)
            return
        if kind == "next":
            take = self._waiting.pop if worker.from_end else self._waiting.popleft
            worker.file, worker.next = take() if self._waiting and not self._stop[0] else ("", 0)
            worker.connection.send((worker.file, worker.next))
        elif kind == "ran":
            worker.next += 1
            self._log(*said)
        elif kind == "warning":
            self._config.hook.pytest_warning_recorded(**said[0])
        else:
            worker.broken = said[0]

    def _log(self, nodeid: str, location: Any, reports: list[dict[str, Any]]) -> None:
        hook = self._config.hook
        hook.pytest_runtest_logstart(nodeid=nodeid, location=location)
        for data in reports:
            hook.pytest_runtest_logreport(report=hook.pytest_report_from_serializable(config=self._config, data=data))
        hook.pytest_runtest_logfinish(nodeid=nodeid, location=location)

    def _end(self, worker: Worker) -> None:
        """Report a worker that ended too early as a failure of its test, and let another one run the rest."""
        printed = [(f"Captured std{name}", _whole(fd)) for name, fd in zip(_OUTPUTS, worker.outputs, strict=False)]
        code = self._reap(worker)
        if code == 0:
            return
        items = self._files.get(worker.file) or self._session.items[:1]
        item = items[min(worker.next, len(items) - 1)]
        how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
        text = f"The process that ran the tests {how}.\n{worker.broken}"
        report = pytest.TestReport(
            nodeid=item.nodeid,
            location=item.location,
            keywords={},
            outcome="failed",
            longrepr=text,
            when="call",
            sections=[(title, text) for title, text in printed if text],
        )
        self._config.hook.pytest_runtest_logreport(report=report)
        if worker.next < len(self._files.get(worker.file, ())) and not self._stop[0]:
            if worker.next + 1 < len(items):
                self._waiting.appendleft((worker.file, worker.next + 1))
            self._fork()

    def _reap(self, worker: Worker) -> int:
        worker.connection.close()
        for fd in worker.outputs:
            os.close(fd)
        return os.waitstatus_to_exitcode(os.waitpid(worker.pid, 0)[1])


@dataclass(eq=False)  # pytest keeps plugins in sets
class _Work:
    """What a forked process does; pytest calls its hooks."""

    session: pytest.Session
    connection: Connection
    stop: mmap.mmap
    files: dict[str, list[pytest.Item]]
    orphaned: bool = field(default=False)
    reports: list[dict[str, Any]] = field(default_factory=list)
    """Those of the test that runs: sent together, as each message wakes the process that collected."""

    def do(self) -> NoReturn:
        """Run tests until there are none, and end the process without what pytest does at the end of a session."""
        code = 1
        try:
            self._settle()
            try:
                self._run()
            finally:
                signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C again would leave servers of the tests behind
                self.session._setupstate.teardown_exact(None)
            code = 0
        except BaseException:
            self._tell("broken", traceback.format_exc())
        finally:
            os._exit(code)

    def _settle(self) -> None:
        """Take a folder and files for output of its own, which a fork shares."""
        config = self.session.config
        factory = config._tmp_path_factory  # type: ignore[attr-defined]
        factory._basetemp = factory.mktemp(f"w{os.getpid()}", numbered=False)
        config.get_terminal_writer()._file = open(os.devnull, "w")  # noqa: SIM115
        capture = config.pluginmanager.getplugin("capturemanager")
        capture.stop_global_capturing()
        capture.start_global_capturing()
        capture.suspend_global_capture()
        if _captures(config):
            for name in _OUTPUTS:
                file = getattr(capture._global_capturing, name).tmpfile
                reduction.send_handle(self.connection, file.fileno(), os.getppid())
            faulthandler.enable(file.fileno())
        config.pluginmanager.register(self, "work")

    def _run(self) -> None:
        hook, session = self.session.config.hook, self.session
        while not self.orphaned:
            self._tell("next")
            file, begin = self.connection.recv()
            items = self.files.get(file, [])[begin:]
            if not items:
                return
            # The session as the next test: what belongs to it stays, what belongs to the file is torn down.
            for item, following in zip(items, [*items[1:], session], strict=True):
                if self.stop[0] or self.orphaned or session.shouldfail or session.shouldstop:
                    return
                hook.pytest_runtest_protocol(item=item, nextitem=following)

    def _tell(self, *said: Any) -> None:
        try:
            self.connection.send(said)
        except OSError:
            self.orphaned = True

    def pytest_runtest_logfinish(self, nodeid: str, location: Any) -> None:
        self._tell("ran", nodeid, location, self.reports)
        self.reports.clear()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        config = self.session.config
        if report.passed and report.when != "call" and not config.option.durations and not report.sections:
            return  # nothing shows that a test was set up and torn down
        self.reports.append(config.hook.pytest_report_to_serializable(config=config, report=report))

    def pytest_warning_recorded(self, warning_message: Any, when: str, nodeid: str, location: Any) -> None:
        # Not every warning can be pickled; its text can.
        plain = warnings.WarningMessage(
            str(warning_message.message), warning_message.category, warning_message.filename, warning_message.lineno
        )
        self._tell("warning", {"warning_message": plain, "when": when, "nodeid": nodeid, "location": location})


def _sockets(given: list[dict[str, socket.socket]]) -> Iterator[socket.socket]:
    for one in given:
        yield from one.values()


def _captures(config: pytest.Config) -> bool:
    return bool(config.option.capture == "fd")


def _whole(fd: int) -> str:
    return os.pread(fd, os.fstat(fd).st_size, 0).decode(errors="replace")
