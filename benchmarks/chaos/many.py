"""Run two servers and three workers on one Postgres, and kill any of them at any time.

python -m benchmarks.chaos.many    300 issues and 100 kills, one every ten seconds; twenty minutes
"""

from __future__ import annotations

import argparse
import contextlib
import random
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from benchmarks.chaos.fleet import Fleet, repositories
from benchmarks.chaos.storm import FAULTS, Weather, blind_posts
from bot.jobs import load
from tests.serve.app import WAIT_BY_NATURE, App, ask
from tests.serve.conftest import BODY, TITLE
from tests.servers.deliveries import comment_event, issue_event
from tests.servers.github_server import Call, Fault, serve_github
from tests.servers.github_world import Repo
from tests.servers.postgres import Postgres, serve_postgres

RESUMES_WITHIN = 15.0
"""Maximum seconds until another process resumes an interrupted job."""


@dataclass
class Outcome:
    """The result of a run."""

    issues: int
    seconds: float
    killed: Counter[str]
    apart: float
    """Seconds between two kills."""
    refused: int
    """Number of deliveries that were refused at first and sent again."""
    reports: Counter[int]
    """Number of issues by their number of comments of ours."""
    blind: int
    disordered: int
    """Number of jobs that were settled before an earlier one of their issue and lane."""
    waits: list[float]
    states: Counter[str]
    tracebacks: Counter[str]

    @property
    def slowest(self) -> float:
        """Return the maximum seconds until an interrupted job resumed."""
        return max(self.waits, default=0.0)

    @property
    def is_sound(self) -> bool:
        """Return whether all guarantees held."""
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
    """Open issues while faults occur, then wait until all work is done.

    Args:
        issues: number of issues, spread over the time of the kills.
        kills: number of kills of any process.
        folder: for data directories.
        postgres: a server that may be restarted.
        pause: seconds between two kills.
        freeze: seconds for which a worker is frozen.
        restarts: number of restarts of Postgres, the first one by a crash.
        latency: seconds that GitHub takes to respond, so that kills interrupt work.
        rate: fraction of GitHub calls that fail, in varying ways.
        seed: seed of the random numbers.
    """
    started = time.monotonic()
    with serve_github() as github:
        github.fault = _delayed(Weather(rate, random.Random(seed), FAULTS), latency)
        repos = repositories(github, folder, issues)
        fleet = Fleet(github, postgres, postgres.migrated(), folder)
        try:
            fleet.start()
            arriving = Arriving(fleet, repos, issues, seed)
            arriving.start()
            raging = time.monotonic()
            killed = _inject_faults(fleet, kills, pause, freeze, restarts, random.Random(seed + 2))
            apart = (time.monotonic() - raging) / max(kills, 1)
            arriving.join()
            fleet.calm(arriving.opened)
            fleet.watched()
        finally:
            fleet.stop()
        return _outcome(fleet, arriving, time.monotonic() - started, killed, apart)


def _delayed(weather: Weather, latency: float) -> Callable[[Call], Fault | None]:
    """Return the faults of GitHub's calls, each after some seconds."""

    def late(call: Call) -> Fault | None:
        time.sleep(latency)
        return weather(call)

    return late


class Arriving(threading.Thread):
    """Opens issues as long as processes are killed, comments on each, and sends every delivery twice."""

    def __init__(self, fleet: Fleet, repos: list[Repo], issues: int, seed: int) -> None:
        super().__init__(daemon=True)
        self._fleet, self._repos, self.issues = fleet, repos, issues
        self._dice = random.Random(seed)
        self.opened: list[tuple[Repo, int]] = []
        self.refused = 0

    def run(self) -> None:
        """Send each delivery until it is accepted, as the reconciler would."""
        world, again = self._fleet.github.world, list[tuple[str, bytes, str]]()
        for index in range(self.issues):
            while index > self._fleet.progress * self.issues:
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


def _outcome(fleet: Fleet, arriving: Arriving, seconds: float, killed: Counter[str], apart: float) -> Outcome:
    """Return what GitHub, the store and the logs show after the storm."""
    return Outcome(
        issues=arriving.issues,
        seconds=seconds,
        killed=killed,
        apart=apart,
        refused=arriving.refused,
        reports=Counter(len(fleet.github.world.ours(*one)) for one in arriving.opened),
        blind=blind_posts(fleet.github),
        disordered=disordered(fleet.url),
        waits=fleet.waits,
        states=_left(fleet.url),
        tracebacks=Counter(_fault(line) for app in fleet.apps for line in app.log if "traceback" in line),
    )


def _inject_faults(
    fleet: Fleet, kills: int, pause: float, freeze: float, restarts: int, dice: random.Random
) -> Counter[str]:
    """Kill processes at random, freeze a busy worker and restart Postgres, spread over the whole time."""
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
            app = _busy_worker(fleet)
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


def _busy_worker(fleet: Fleet) -> App:
    until = time.monotonic() + 20
    while time.monotonic() < until:
        for app in fleet.workers:
            if fleet.busy(app):
                return app
        time.sleep(0.02)
    return fleet.workers[0]


def _left(url: str) -> Counter[str]:
    """Return the unfinished jobs by state, except those that wait by design."""
    rows = ask(url, "SELECT state, work FROM jobs WHERE state <> 'done'")
    return Counter(state for state, work in rows if load(work).kind not in WAIT_BY_NATURE)


def disordered(url: str) -> int:
    """Return the number of jobs settled before an earlier one of their issue and lane, except delayed ones.

    The transaction ids (``xmin``) give the order of the changes. The times of two processes differ by milliseconds.
    """
    last: dict[tuple[str, str], int] = defaultdict(int)
    out = 0
    rows = ask(url, "SELECT issue_key, lane, work, xmin::text::bigint FROM jobs WHERE state = 'done' ORDER BY id")
    for key, lane, work, settled in rows:
        if load(work).delay == 0.0:
            out += settled < last[key, lane]
            last[key, lane] = max(last[key, lane], settled)
    return out


def _fault(line: dict[str, Any]) -> str:
    """Return a logged fault: its message, and the type and place of the exception."""
    return f"{str(line['message'])[:80]}: {' '.join(str(line['traceback']).split()[-60:])}"


def table(outcome: Outcome) -> str:
    """Return the result, one figure per line."""
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
    """Print the result."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--issues", type=int, default=300)
    options.add_argument("--kills", type=int, default=100)
    options.add_argument("--pause", type=float, default=10.0, help="seconds between two kills")
    options.add_argument("--freeze", type=float, default=30.0, help="seconds for which a worker is paused")
    options.add_argument("--restarts", type=int, default=2, help="number of restarts of PostgreSQL")
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
    raise SystemExit(0 if outcome.is_sound else "a guarantee was broken")


if __name__ == "__main__":
    main()
