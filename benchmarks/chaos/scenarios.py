"""Failure scenarios by name, each run separately: their effect on issues, and whether anything was lost or duplicated.

python -m benchmarks.chaos.scenarios [name …]    all of them: ten minutes
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import random
import resource
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import httpx

from benchmarks.chaos.fleet import Fleet, repositories
from benchmarks.chaos.many import disordered
from benchmarks.chaos.storm import FAULTS, Weather, blind_posts
from tests.cli.process import ROOT
from tests.hostile.corpus import Hostile
from tests.hostile.obedient import obedient
from tests.serve.app import App, processes_of, running, wait_for
from tests.serve.conftest import BODY, TITLE
from tests.servers.deliveries import issue_event
from tests.servers.github_server import GitHubServer, serve_github
from tests.servers.github_world import Repo
from tests.servers.model_server import Reply, error
from tests.servers.model_server import serve as serve_model
from tests.servers.postgres import Postgres, serve_postgres

ISSUES = 12
FROZEN = 10.0
"""Seconds without a heartbeat after which every other worker has noticed."""
CLOCK = Path(__file__).parent / "clock"

Opened = list[tuple[Repo, int]]


class Day:
    """The resources of a scenario, and its summary."""

    def __init__(self, folder: Path, github: GitHubServer, postgres: Postgres, *, short: bool = False) -> None:
        self.folder, self.github, self.postgres = folder, github, postgres
        self.short = short
        """Whether a fifth of the time and of the issues is enough, as in a test."""
        self.repos = repositories(github, folder, ISSUES)
        self.opened: Opened = []
        self.refused = 0
        self.results: dict[str, object] = {}

    def part(self, number: int) -> int:
        """Return a number of seconds or issues of the whole run, or what a short one has of it."""
        return max(1, number // 5) if self.short else number

    def open(self, receivers: Sequence[App], issues: int, title: str = TITLE, text: str = BODY) -> None:
        """Open issues."""
        world = self.github.world
        for _ in range(issues):
            repo = self.repos[len(self.opened) % len(self.repos)]
            number = world.open_issue(repo, f"{title}, case {len(self.opened)}", text)["number"]
            self.opened.append((repo, number))
            self.deliver(receivers, "issues", issue_event(world, repo, number, "opened"), f"opened-{repo.id}-{number}")

    def deliver(self, receivers: Sequence[App], event: str, body: bytes, guid: str) -> None:
        """Send a delivery to one server after the other until it is accepted."""
        for app in itertools.cycle(receivers):
            if self._delivered(app, event, body, guid):
                return
            self.refused += 1
            time.sleep(0.5)

    def _delivered(self, app: App, event: str, body: bytes, guid: str) -> bool:
        try:
            code = app.deliver(event, body, guid)
        except httpx.HTTPError:
            return False
        assert code == 202 or code >= 500, code
        return code == 202

    @contextlib.contextmanager
    def fleet(
        self,
        settings: Mapping[str, str] | None = None,
        *,
        servers: int = 1,
        workers: int = 2,
        detour: Callable[[str], str] = lambda _url: "",
    ) -> Iterator[Fleet]:
        """Run servers and workers on a separate database; ``detour`` is the address for all workers but the last."""
        url = self.postgres.migrated()
        fleet = Fleet(self.github, self.postgres, url, self.folder, servers, workers, dict(settings or {}), detour(url))
        try:
            fleet.start()
            yield fleet
            fleet.calm(self.opened)
            self.results["out of order"] = disordered(fleet.url)
            self.tell_logs(fleet.apps)
            if waits := fleet.watched():
                self.results["went on after, s"] = f"{max(waits):.1f} at most"
        finally:
            fleet.stop()

    @contextlib.contextmanager
    def alone(self, **settings: str) -> Iterator[App]:
        """Run one server on files."""
        with running(self.github, self.folder / "alone", **settings) as app:
            yield app
            wait_for(lambda: all(self.github.world.reports(*one) for one in self.opened), 600.0, app.unfinished)
            wait_for(lambda: not app.unfinished(), 300.0, app.unfinished)
            self.tell_logs([app])

    def tell_logs(self, apps: Sequence[App]) -> None:
        """Add the number of log lines, and the tracebacks among them."""
        lines = [line for app in apps for line in app.log]
        self.results["log lines"] = len(lines)
        self.results["tracebacks"] = [str(line["traceback"])[-200:] for line in lines if "traceback" in line]


def frozen_workers(day: Day) -> None:
    """One busy worker freezes for 30 seconds, then both do; they resume next to the workers that took over."""
    day.github.fault = lambda _call: time.sleep(0.3)
    with day.fleet() as fleet:
        opening = threading.Thread(target=day.open, args=(fleet.receivers, ISSUES))
        opening.start()
        with fleet.frozen(_busy_worker(fleet)):
            time.sleep(FROZEN + day.part(20))
        opening.join()
        day.open(fleet.receivers, 2)
        with fleet.frozen(fleet.workers[0]), fleet.frozen(fleet.workers[1]):
            day.open(fleet.receivers, 2)
            time.sleep(FROZEN + day.part(10))
            fleet.waits.clear()  # no other worker could take over


def postgres_cut_off(day: Day) -> None:
    """The database is unavailable for 30 seconds while issues arrive; they are refused and accepted afterwards."""
    day.github.fault = lambda _call: time.sleep(0.2)
    with day.fleet() as fleet:
        day.open(fleet.receivers, ISSUES // 2)
        opening = threading.Thread(target=day.open, args=(fleet.receivers, ISSUES // 2))
        fleet.postgres.stop()
        opening.start()
        time.sleep(30)
        fleet.postgres.start()
        opening.join()


def disk_full(day: Day) -> None:
    """For 20 seconds no file of the server or its worker can grow."""
    with day.alone() as app:
        day.open([app], ISSUES // 2)
        _let_grow(app, 1)
        opening = threading.Thread(target=day.open, args=([app], ISSUES // 2))
        opening.start()
        time.sleep(20)
        _let_grow(app, resource.RLIM_INFINITY)
        opening.join()


def clock_jumps(day: Day) -> None:
    """The clock of all processes jumps an hour ahead and back."""
    ahead = day.folder / "ahead"
    ahead.write_text("0")
    day.github.fault = lambda _call: time.sleep(0.2)
    with day.fleet({"PYTHONPATH": f"{CLOCK}:{ROOT}", "CLOCK_AHEAD": str(ahead)}) as fleet:
        for seconds in (3_600, -3_600, 0):
            ahead.write_text(str(seconds))
            day.open(fleet.receivers, ISSUES // 4)
            time.sleep(3)
            fleet.kill(fleet.workers[seconds > 0])
        day.open(fleet.receivers, ISSUES - len(day.opened))


def faults_together(day: Day) -> None:
    """A quarter of GitHub's calls and half of the model's fail, in varying ways."""
    weather = Weather(0.25, random.Random(1), FAULTS)
    day.github.fault = weather
    ways = itertools.cycle([None, error(429, retry_after_ms="50"), None, error(500), None, Reply({}, delay=1.0)])
    with serve_model() as model:
        good = obedient(Hostile("storm", TITLE, BODY))
        model.script = lambda request: next(ways) or good(request)
        settings = {
            "TRIAGE_BRAIN": "llm",
            "OPENAI_BASE_URL": model.url,
            "TRIAGE_MODEL_CALLS_PER_MINUTE": "1000",
        }
        with day.fleet(settings) as fleet:
            day.open(fleet.receivers, ISSUES)
            for one in day.opened:
                wait_for(lambda one=one: bool(day.github.world.reports(*one)), 900.0, fleet.status)
            day.github.fault = lambda _call: None
        day.results["calls failed"] = weather.met + len(model.requests) // 2


SCENARIOS: dict[str, Callable[[Day], None]] = {
    "frozen": frozen_workers,
    "cut-off": postgres_cut_off,
    "disk-full": disk_full,
    "clocks": clock_jumps,
    "faults": faults_together,
}


def live(scenario: Callable[[Day], None], *, short: bool = False) -> tuple[bool, str]:
    """Run a scenario; return whether the guarantees held, and a summary."""
    with tempfile.TemporaryDirectory() as folder, serve_github() as github, serve_postgres() as postgres:
        day, started = Day(Path(folder), github, postgres, short=short), time.monotonic()
        scenario(day)
        reports = Counter(len(github.world.reports(*one)) for one in day.opened)
        blind = blind_posts(github)
        results = {
            "issues": len(day.opened),
            "reports each": dict(reports),
            "blind POSTs": blind,
            "refused first": day.refused,
            **day.results,
            "s in all": round(time.monotonic() - started),
        }
        kept = reports == {1: len(day.opened)} and not blind and not day.results.get("out of order")
        return kept, ", ".join(f"{key} {value}" for key, value in results.items())


def _busy_worker(fleet: Fleet) -> App:
    wait_for(lambda: any(map(fleet.busy, fleet.workers)), 60.0)
    return next(filter(fleet.busy, fleet.workers), fleet.workers[0])


def _let_grow(app: App, size: int) -> None:
    assert app.process is not None
    for pid in processes_of(app.process.pid):
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def report(scenarios: Mapping[str, Callable[[Day], None]], description: str | None) -> None:
    """Run the scenarios that the command line names, all by default; print one line for each."""
    options = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("names", nargs="*", default=[], choices=[*scenarios, []], metavar="name")
    broken = 0
    for name in options.parse_args().names or list(scenarios):
        kept, summary = live(scenarios[name])
        broken += not kept
        text = (scenarios[name].__doc__ or "").strip()
        print(f"{name:<11} {'kept' if kept else 'BROKEN'}: {summary}\n{'':<12}{text}", flush=True)
    raise SystemExit("a promise was broken" if broken else 0)


if __name__ == "__main__":
    report(SCENARIOS, __doc__)
