"""Measure the time from an issue to its report, in a burst and under steady load, and the time to stop a server.

python -m benchmarks.load.pace                 one server on files
python -m benchmarks.load.pace --postgres      one server and two workers on a separate Postgres
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.chaos.fleet import Fleet, repositories
from tests.serve.app import App, running, wait_for
from tests.serve.conftest import BODY, TITLE
from tests.servers.deliveries import issue_event
from tests.servers.github_server import Call, GitHubServer, serve_github
from tests.servers.github_world import Repo
from tests.servers.postgres import serve_postgres

_AT_WORK = 12
_COMMENTS = re.compile(r"/repos/octo/(\w+)/issues/(\d+)/comments")


class Waiting:
    """Records when issues were delivered and when each had its report."""

    def __init__(self, github: GitHubServer, app: App) -> None:
        self._github, self._app = github, app
        self._delivered: dict[tuple[str, str], float] = {}
        self.waits: dict[tuple[str, str], float] = {}
        github.fault = self._see

    def deliver(self, repo: Repo) -> float:
        """Open an issue; return the seconds until its delivery was accepted."""
        world, at = self._github.world, time.monotonic()
        number = world.open_issue(repo, f"{TITLE}, case {len(self._delivered)}", BODY)["number"]
        self._delivered[repo.name, str(number)] = at
        assert self._app.deliver("issues", issue_event(world, repo, number, "opened")) == 202
        return time.monotonic() - at

    def all_reported(self) -> None:
        """Wait for the last report."""
        wait_for(lambda: len(self.waits) == len(self._delivered), 900.0, self._app.counts, pause=0.1)

    def _see(self, call: Call) -> None:
        found = _COMMENTS.fullmatch(call.path)
        if found and call.method == "POST":
            key = found[1], found[2]
            self.waits.setdefault(key, time.monotonic() - self._delivered[key])


def main() -> None:
    """Print one row for the burst and one for the steady load."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--burst", type=int, default=200, help="number of issues in the burst")
    options.add_argument("--rate", type=float, default=2.0, help="issues per second under steady load")
    options.add_argument("--seconds", type=float, default=60.0, help="duration of the steady load")
    options.add_argument("--postgres", action="store_true", help="run one server and two workers on Postgres")
    given = options.parse_args()
    steady = int(given.rate * given.seconds)
    with tempfile.TemporaryDirectory() as folder, serve_github() as github:
        repos = repositories(github, Path(folder), max(given.burst, steady) + 10)
        with _server(github, Path(folder), shared=given.postgres) as app:
            warming = Waiting(github, app)
            for repo in repos:  # fetches the mirrors
                warming.deliver(repo)
            warming.all_reported()
            wait_for(lambda: not app.counts(), 300.0, app.counts, pause=0.1)
            print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
            _say("burst", *_measure_arrivals(github, app, repos, given.burst, 0.0))
            _say("steady", *_measure_arrivals(github, app, repos, steady, 1 / given.rate))
            print(f"stopped with {_AT_WORK} issues in progress after {_stopped(github, app, repos):.1f} s")


def _stopped(github: GitHubServer, app: App, repos: Sequence[Repo]) -> float:
    """Return the seconds that a server takes to stop while it processes issues."""
    waiting = Waiting(github, app)
    for repo in repos[:_AT_WORK]:
        waiting.deliver(repo)
    started = time.monotonic()
    assert app.stop() == 0
    return time.monotonic() - started


def _measure_arrivals(
    github: GitHubServer, app: App, repos: Sequence[Repo], issues: int, pause: float
) -> tuple[list[float], list[float], float]:
    """Return the seconds until each delivery was accepted (its p99 is printed), until each report, and in total."""
    waiting, started, accepted = Waiting(github, app), time.monotonic(), []
    for index in range(issues):
        time.sleep(max(0.0, started + index * pause - time.monotonic()))
        accepted.append(waiting.deliver(repos[index % len(repos)]))
    waiting.all_reported()
    return sorted(accepted), sorted(waiting.waits.values()), time.monotonic() - started


@contextlib.contextmanager
def _server(github: GitHubServer, folder: Path, *, shared: bool) -> Iterator[App]:
    if not shared:
        with running(github, folder / "data", fresh=True) as app:
            yield app
        return
    with serve_postgres() as postgres:
        fleet = Fleet(github, postgres, postgres.migrated(), folder, servers=1, crew=2)
        try:
            fleet.start()
            yield fleet.receivers[0]
        finally:
            fleet.stop()


def _say(what: str, accepted: list[float], waits: list[float], seconds: float) -> None:
    many = len(waits)
    p50, p95, worst = waits[many // 2], waits[int(many * 0.95)], waits[-1]
    print(
        f"{what:<7} {many:4} issues, {many / seconds:5.1f}/s: accepted in {1000 * accepted[int(many * 0.99)]:.0f} ms,"
        f" reported after {p50:.1f} s (p50), {p95:.1f} s (p95), {worst:.1f} s (worst)",
        flush=True,
    )


if __name__ == "__main__":
    main()
