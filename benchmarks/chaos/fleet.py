"""Servers and workers on one Postgres that are killed, frozen and restarted while issues arrive."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

from tests.serve.app import SERVE, App, ask, processes_of
from tests.serve.conftest import FILES
from tests.servers.github_server import GitHubServer, private_key
from tests.servers.github_world import Repo
from tests.servers.postgres import Postgres
from tests.support.patience import patience, wait_while_moving
from tests.support.repositories import make_repository

PER_INSTALLATION = 10
"""Number of issues whose writes stay below the limit per minute."""


@dataclass
class Fleet:
    """Processes on one database that are restarted whenever they end, as a supervisor does."""

    github: GitHubServer
    postgres: Postgres
    url: str
    folder: Path
    servers: int = 2
    crew: int = 3
    settings: dict[str, str] = field(default_factory=dict)
    detour: str = ""
    """Another address of the database, for all workers but the last; empty for the same."""
    fresh: bool = False
    """Whether the processes are new interpreters, as those of another release must be."""
    apps: list[App] = field(default_factory=list)
    progress: float = 0.0
    """The completed fraction of the planned faults, 0..1."""
    waits: list[float] = field(default_factory=list)
    """Seconds from a kill or freeze until each interrupted job was restarted or done."""
    down: list[App] = field(default_factory=list)
    """Processes that were killed and have not been restarted yet."""
    _watching: list[threading.Thread] = field(default_factory=list)
    _starting: list[threading.Thread] = field(default_factory=list)

    @property
    def receivers(self) -> list[App]:
        return self.apps[: self.servers]

    @property
    def workers(self) -> list[App]:
        return self.apps[self.servers :]

    def start(self) -> None:
        """Start all processes at once."""
        private_key()  # created once, before several threads request it
        words = [(*SERVE, "--no-worker")] * self.servers + [("worker",)] * self.crew
        settings = {"DATABASE_URL": self.url, **self.settings}
        self.apps = [
            App(self.github, self.folder / f"data{k}", dict(settings), given, fresh=self.fresh)
            for k, given in enumerate(words)
        ]
        if self.detour:
            for app in self.workers[:-1]:
                app.settings["DATABASE_URL"] = self.detour
        _all([app.start for app in self.apps])

    def stop(self) -> None:
        """Kill all processes; a frozen one would not notice that its parent has ended."""
        started = [app for app in self.apps if app.process]
        for app in started:
            for pid in list(processes_of(app.process.pid)) if app.process else ():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        for app in started:
            app.kill()

    def calm(self, opened: Sequence[tuple[Repo, int]]) -> None:
        """Wait until every process runs, every issue has a report, and no job is left."""
        for thread in self._starting:
            thread.join()

        def reported() -> int:
            """Return the number of issues with a report."""
            return sum(bool(self.github.world.reports(*one)) for one in opened)

        wait_while_moving(lambda: reported() == len(opened), reported, self.status)
        wait_while_moving(lambda: not self.apps[0].unfinished(), self.apps[0].unfinished, self.status)

    def status(self) -> str:
        """Return the unfinished jobs and the last lines of each log."""
        return "\n".join(app.picture(12) for app in self.apps)

    def kill(self, app: App) -> None:
        """Kill a process with SIGKILL and start its restart."""
        assert app.process is not None
        pid, began = app.process.pid, time.monotonic()
        cut_off = self.jobs_of(pid)
        app.kill()
        self.down.append(app)
        self.watch(cut_off, began)
        self._starting.append(threading.Thread(target=self._start, args=(app,), daemon=True))
        self._starting[-1].start()

    def _start(self, app: App) -> None:
        app.start(ready=False)
        app.up.wait(patience(60))
        self.down.remove(app)

    @contextlib.contextmanager
    def frozen(self, app: App) -> Iterator[None]:
        """Freeze a process and its child, like a machine that swaps or was suspended."""
        assert app.process is not None
        pids, began = list(processes_of(app.process.pid)), time.monotonic()
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        self.watch(self.jobs_of(app.process.pid), began)
        try:
            yield
        finally:
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)

    def busy(self, app: App) -> bool:
        """Return whether a process runs a job."""
        assert app.process is not None
        return bool(self.jobs_of(app.process.pid))

    def watch(self, cut_off: dict[int, int], began: float) -> None:
        """Record when interrupted jobs resume."""
        if cut_off:
            self._watching.append(threading.Thread(target=self._watch, args=(cut_off, began), daemon=True))
            self._watching[-1].start()

    def watched(self) -> list[float]:
        """Return the waiting times after all are recorded."""
        for thread in self._watching:
            thread.join(patience(120))
        return self.waits

    def jobs_of(self, pid: int) -> dict[int, int]:
        """Return the jobs of a process with their attempts; empty if the database is unavailable."""
        try:
            rows = ask(self.url, f"SELECT id, attempt FROM jobs WHERE state = 'doing' AND owner LIKE '%:{pid}:%'")
        except psycopg.OperationalError:
            return {}
        return dict(rows)

    def _watch(self, cut_off: dict[int, int], began: float) -> None:
        while cut_off and time.monotonic() - began < 100:
            with contextlib.suppress(psycopg.OperationalError):
                numbers = ",".join(map(str, cut_off))
                for number, attempt, state in ask(
                    self.url, f"SELECT id, attempt, state FROM jobs WHERE id IN ({numbers})"
                ):
                    if attempt > cut_off[number] or state == "done":
                        self.waits.append(time.monotonic() - began)
                        del cut_off[number]
            time.sleep(0.25)
        self.waits.extend(100.0 for _ in cut_off)


def repositories(github: GitHubServer, folder: Path, issues: int) -> list[Repo]:
    """Create enough repositories for the installations, whose writes are limited."""
    origin = folder / "origin"
    sha = make_repository(origin, FILES)
    return [
        github.world.repository(f"octo/feedbox{k}", installation=100 + k, git=origin, head=sha)
        for k in range(-(-issues // PER_INSTALLATION))
    ]


def _all(calls: list[Callable[[], None]]) -> None:
    """Make calls concurrently; none may fail."""
    failed: list[BaseException] = []

    def make(call: Callable[[], None]) -> None:
        try:
            call()
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=make, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]
