"""Two servers that take deliveries and three workers on one Postgres, any of which is killed at any time.

python -m benchmarks.chaos.many    the whole of it: 300 issues, 100 kills, one every ten seconds; twenty minutes
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import signal
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psycopg

from benchmarks.chaos.storm import FAULTS, Weather, blind_posts
from bot.jobs import load
from tests.deliveries import comment_event, issue_event
from tests.github_server import Call, Fault, GitHubServer, private_key, serve_github
from tests.github_world import Repo
from tests.patience import patience
from tests.postgres import Postgres, serve_postgres
from tests.repositories import make_repository
from tests.serve.app import SERVE, WAIT_BY_NATURE, App, ask, processes_of, wait_for
from tests.serve.conftest import BODY, FILES, TITLE

RESUMES_WITHIN = 15.0
"""Seconds in which work that was cut off is taken up by another."""
PER_INSTALLATION = 10
"""Issues that stay below the writes of a minute."""


@dataclass
class Fleet:
    """Processes on one database, started again whenever they end, as a machine's supervisor does."""

    github: GitHubServer
    postgres: Postgres
    url: str
    folder: Path
    servers: int = 2
    crew: int = 3
    settings: dict[str, str] = field(default_factory=dict)
    apps: list[App] = field(default_factory=list)
    progress: float = 0.0
    """The part of what is to happen to it that has happened, 0..1."""
    waits: list[float] = field(default_factory=list)
    """Seconds from a kill or a freeze until each job that was cut off was started again or was done."""
    down: list[App] = field(default_factory=list)
    """Those that were killed and are not up again."""
    _watching: list[threading.Thread] = field(default_factory=list)
    _starting: list[threading.Thread] = field(default_factory=list)

    @property
    def receivers(self) -> list[App]:
        return self.apps[: self.servers]

    @property
    def workers(self) -> list[App]:
        return self.apps[self.servers :]

    def start(self) -> None:
        """All of them, at once."""
        private_key()  # made once, before several threads ask for it
        words = [(*SERVE, "--no-worker")] * self.servers + [("worker",)] * self.crew
        settings = {"DATABASE_URL": self.url, **self.settings}
        self.apps = [App(self.github, self.folder / f"data{k}", settings, given) for k, given in enumerate(words)]
        _all([app.start for app in self.apps])

    def stop(self) -> None:
        """All of them, whatever they do: one that is frozen does not see that its parent is gone."""
        started = [app for app in self.apps if app.process]
        for app in started:
            for pid in list(processes_of(app.process.pid)) if app.process else ():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        for app in started:
            app.kill()

    def calm(self, opened: Sequence[tuple[Repo, int]]) -> None:
        """Wait until every process is up, every issue has a report, and nothing is left to do."""
        for thread in self._starting:
            thread.join()
        wait_for(lambda: all(self.github.world.reports(*one) for one in opened), 600.0, self.status)
        wait_for(lambda: not self.apps[0].unfinished(), 300.0, self.status)

    def status(self) -> str:
        """What is left, and the last lines of each log."""
        return json.dumps([self.apps[0].unfinished(), *(app.log[-3:] for app in self.apps)], default=str)

    def kill(self, app: App) -> None:
        """As kill -9 does, and begin to start it again."""
        assert app.process is not None
        pid, began = app.process.pid, time.monotonic()
        cut_off = self._jobs_of(pid)
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
        """It and its child do nothing, as on a machine that swaps or was paused."""
        assert app.process is not None
        pids, began = list(processes_of(app.process.pid)), time.monotonic()
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        self.watch(self._jobs_of(app.process.pid), began)
        try:
            yield
        finally:
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)

    def busy(self, app: App) -> bool:
        """Whether it runs a job."""
        assert app.process is not None
        return bool(self._jobs_of(app.process.pid))

    def watch(self, cut_off: dict[int, int], began: float) -> None:
        """Note when jobs that were cut off go on."""
        if cut_off:
            self._watching.append(threading.Thread(target=self._watch, args=(cut_off, began), daemon=True))
            self._watching[-1].start()

    def watched(self) -> list[float]:
        """The waits, when all is known."""
        for thread in self._watching:
            thread.join(patience(120))
        return self.waits

    def _jobs_of(self, pid: int) -> dict[int, int]:
        """Jobs of a process and the attempts that it makes; none where the database is away."""
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


@dataclass
class Outcome:
    """What came of it."""

    issues: int
    seconds: float
    killed: Counter[str]
    apart: float
    """Seconds between two kills."""
    refused: int
    """Deliveries that were not accepted at once, and sent again."""
    reports: Counter[int]
    """How many issues have so many comments of ours."""
    blind: int
    disordered: int
    """Jobs that were settled before an earlier one of their issue and lane."""
    waits: list[float]
    states: Counter[str]
    tracebacks: Counter[str]

    @property
    def slowest(self) -> float:
        """Seconds until the last of the jobs that were cut off went on."""
        return max(self.waits, default=0.0)

    @property
    def kept(self) -> bool:
        """Whether what was promised was kept."""
        wrong = self.blind, self.disordered, self.states.total(), self.tracebacks.total()
        return self.reports == {1: self.issues} and not any(wrong) and self.slowest <= RESUMES_WITHIN


def storm(
    issues: int,
    kills: int,
    *,
    folder: Path,
    postgres: Postgres,
    pause: float = 10.0,
    freeze: float = 30.0,
    restarts: int = 2,
    latency: float = 0.4,
    rate: float = 0.05,
    seed: int = 1,
) -> Outcome:
    """Let it rage, and wait until it is calm.

    Args:
        issues: opened over the time that the kills take.
        kills: of any process.
        folder: for data directories.
        postgres: a server that may be restarted.
        pause: seconds between two kills.
        freeze: seconds for which a worker stands still.
        restarts: of Postgres, the first one by a crash.
        latency: seconds that GitHub takes to answer, so that a kill meets work.
        rate: of its calls that fail, each in another way.
        seed: of what is left to chance.
    """
    began = time.monotonic()
    with serve_github() as github:
        weather = Weather(rate, random.Random(seed), FAULTS)

        def late(call: Call) -> Fault | None:
            time.sleep(latency)
            return weather(call)

        github.fault = late
        repos = repositories(github, folder, issues)
        fleet = Fleet(github, postgres, postgres.migrated(), folder)
        try:
            fleet.start()
            arriving = Arriving(fleet, repos, issues, seed)
            arriving.start()
            raging = time.monotonic()
            killed = _rage(fleet, kills, pause, freeze, restarts, random.Random(seed + 2))
            apart = (time.monotonic() - raging) / max(kills, 1)
            arriving.join()
            fleet.calm(arriving.opened)
            waits = fleet.watched()
        finally:
            fleet.stop()
        return Outcome(
            issues,
            time.monotonic() - began,
            killed,
            apart,
            arriving.refused,
            Counter(len(github.world.ours(*one)) for one in arriving.opened),
            blind_posts(github),
            disordered(fleet.url),
            waits,
            _left(fleet.url),
            Counter(_fault(line) for app in fleet.apps for line in app.log if "traceback" in line),
        )


class Arriving(threading.Thread):
    """Issues are opened as long as there are kills, each is commented on, and every delivery comes twice."""

    def __init__(self, fleet: Fleet, repos: list[Repo], issues: int, seed: int) -> None:
        super().__init__(daemon=True)
        self._fleet, self._repos, self._issues = fleet, repos, issues
        self._dice = random.Random(seed)
        self.opened: list[tuple[Repo, int]] = []
        self.refused = 0

    def run(self) -> None:
        """Each again until it was accepted, as the reconciler would."""
        world, again = self._fleet.github.world, list[tuple[str, bytes, str]]()
        for index in range(self._issues):
            while index > self._fleet.progress * self._issues:
                time.sleep(0.05)
            repo = self._repos[index % len(self._repos)]
            number = world.open_issue(repo, f"{TITLE}, case {index}", BODY)["number"]
            self.opened.append((repo, number))
            opened = "issues", issue_event(world, repo, number, "opened"), f"opened-{index}"
            self._deliver(*opened)
            comment = world.comment(repo, number, "It happens here too.", "otto")
            commented = "issue_comment", comment_event(world, repo, number, comment), f"commented-{index}"
            self._deliver(*commented)
            again += [opened, commented]
            while again and self._dice.random() < 0.6:
                self._deliver(*again.pop(self._dice.randrange(len(again))))
        for one in again:
            self._deliver(*one)

    def _deliver(self, event: str, body: bytes, guid: str) -> None:
        while True:
            with contextlib.suppress(httpx.HTTPError, httpx.InvalidURL):
                code = self._dice.choice(self._fleet.receivers).deliver(event, body, guid)
                assert code == 202 or code >= 500, code
                if code == 202:
                    return
            self.refused += 1
            time.sleep(0.2)


def _rage(fleet: Fleet, kills: int, pause: float, freeze: float, restarts: int, dice: random.Random) -> Counter[str]:
    """Kill at random, freeze one worker that is at work, restart Postgres: spread over the whole time."""
    killed: Counter[str] = Counter()
    restarted = {kills * (k + 1) // (restarts + 1) for k in range(restarts)}
    frozen: list[App] = []
    freezing: list[threading.Thread] = []
    due = time.monotonic()
    for turn in range(kills):
        due += pause * dice.uniform(0.7, 1.3)
        while (left := due - time.monotonic()) > 0:
            fleet.progress = (turn + 1 - left / pause / 1.3) / kills
            time.sleep(0.05)
        if turn == kills // 4:
            app = _at_work(fleet)
            frozen.append(app)
            freezing.append(threading.Thread(target=_freeze, args=(fleet, app, freeze, frozen), daemon=True))
            freezing[-1].start()
        if turn in restarted:
            fleet.postgres.stop(crash=turn == min(restarted))
            time.sleep(1.0)
            fleet.postgres.start()
        while not (alive := [one for one in fleet.apps if one not in (*frozen, *fleet.down)]):
            time.sleep(0.05)
        app = dice.choice(alive)
        killed[app.words[0]] += 1
        fleet.kill(app)
    fleet.progress = 1.0
    for thread in freezing:
        thread.join()
    return killed


def _freeze(fleet: Fleet, app: App, seconds: float, frozen: list[App]) -> None:
    with fleet.frozen(app):
        time.sleep(seconds)
    frozen.remove(app)


def _at_work(fleet: Fleet) -> App:
    until = time.monotonic() + 20
    while time.monotonic() < until:
        for app in fleet.workers:
            if fleet.busy(app):
                return app
        time.sleep(0.02)
    return fleet.workers[0]


def repositories(github: GitHubServer, folder: Path, issues: int) -> list[Repo]:
    """As many as the installations need whose writes are capped."""
    origin = folder / "origin"
    sha = make_repository(origin, FILES)
    return [
        github.world.repository(f"octo/feedbox{k}", installation=100 + k, git=origin, head=sha)
        for k in range(-(-issues // PER_INSTALLATION))
    ]


def _left(url: str) -> Counter[str]:
    """Jobs that are not done, by state, but for those that wait by nature."""
    rows = ask(url, "SELECT state, work FROM jobs WHERE state <> 'done'")
    return Counter(state for state, work in rows if load(work).kind not in WAIT_BY_NATURE)


def disordered(url: str) -> int:
    """Jobs that were settled before an earlier one of their issue and lane, of those that wait for nothing."""
    last: dict[tuple[str, str], float] = defaultdict(float)
    out = 0
    rows = ask(url, "SELECT issue_key, lane, work, settled_at FROM jobs WHERE state = 'done' ORDER BY id")
    for key, lane, work, settled in rows:
        if load(work).delay == 0.0:
            out += settled < last[key, lane]
            last[key, lane] = max(last[key, lane], settled)
    return out


def _fault(line: dict[str, Any]) -> str:
    """A logged fault: its message, and where and what the exception was."""
    return f"{str(line['message'])[:80]}: {' '.join(str(line['traceback']).split()[-60:])}"


def _all(calls: list[Callable[[], None]]) -> None:
    """Make calls at the same time; none may fail."""
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


def table(outcome: Outcome) -> str:
    """What came of it, a line each."""
    waits = sorted(outcome.waits)
    rows = {
        "issues, each delivery twice": outcome.issues,
        "kills of servers and workers": f"{outcome.killed['serve']} and {outcome.killed['worker']}",
        "seconds between two kills": f"{outcome.apart:.1f}",
        "comments per issue": dict(outcome.reports),
        "POSTs repeated blindly": outcome.blind,
        "jobs out of their issue's order": outcome.disordered,
        "jobs that are left, by state": dict(outcome.states) or "none",
        "deliveries refused, and sent again": outcome.refused,
        "jobs that were cut off": len(waits),
        "seconds until they went on: median, most": f"{waits[len(waits) // 2]:.1f}, {waits[-1]:.1f}" if waits else "-",
        "tracebacks logged": dict(outcome.tracebacks) or "none",
        "seconds in all": round(outcome.seconds),
    }
    return "\n".join(f"{name:<42} {value}" for name, value in rows.items())


def main() -> None:
    """Print what came of it."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--issues", type=int, default=300)
    options.add_argument("--kills", type=int, default=100)
    options.add_argument("--pause", type=float, default=10.0, help="seconds between two kills")
    options.add_argument("--freeze", type=float, default=30.0, help="seconds for which a worker stands still")
    options.add_argument("--restarts", type=int, default=2, help="of Postgres")
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder, serve_postgres() as postgres:
        outcome = storm(
            given.issues,
            given.kills,
            folder=Path(folder),
            postgres=postgres,
            pause=given.pause,
            freeze=given.freeze,
            restarts=given.restarts,
            seed=given.seed,
        )
    print(table(outcome))
    raise SystemExit(0 if outcome.kept else "not what was promised")


if __name__ == "__main__":
    main()
