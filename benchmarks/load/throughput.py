"""Measure issues per second from delivery to comment by rules, on small repositories with warm mirrors.

python -m benchmarks.load.throughput                  one server on SQLite
python -m benchmarks.load.throughput --workers 1 2    one server that receives deliveries, and workers on one Postgres

Content writes are limited per installation, so the issues are spread over several installations. Processor time is that
of our own processes; the database's is a separate figure, and that of the simulated GitHub is excluded.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.serve.app import SERVE, App, processes_of, wait_for
from tests.serve.conftest import BODY, FILES, TITLE
from tests.servers.github_server import GitHubServer, serve_github
from tests.servers.github_world import Repo
from tests.servers.postgres import serve_postgres
from tests.support.repositories import make_repository

PER_INSTALLATION = 15
"""Number of issues, each with a comment and one or two reactions, that stay below the writes of a minute."""
ROUNDS = 3
"""Number of issues per repository and worker before the measurement, so that every worker has read every repository."""


def main() -> None:
    """Print one line per configuration."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--issues", type=int, default=300)
    options.add_argument(
        "--workers", type=int, nargs="*", default=[], help="numbers of workers to measure, on Postgres"
    )
    given = options.parse_args()
    print(f"{given.issues} issues over {_many(given.issues)} installations", flush=True)
    for workers in given.workers or [0]:
        with serve_github() as github, tempfile.TemporaryDirectory() as folder:
            _measure(github, Path(folder), given.issues, workers)


def _measure(github: GitHubServer, folder: Path, issues: int, workers: int) -> None:
    origin = folder / "origin"
    sha, many = make_repository(origin, FILES), _many(issues)
    repos = [
        github.world.repository(f"octo/feedbox{k}", installation=100 + k, git=origin, head=sha) for k in range(many)
    ]
    with _running(github, folder, workers) as fleet:
        _round(fleet.apps[0], github, repos, many * ROUNDS * max(workers, 1))
        time.sleep(61)  # the writes of the warm-up are no longer in this minute
        ours, database, started = _cpu(fleet.pids()), _cpu(fleet.database), time.monotonic()
        _round(fleet.apps[0], github, repos, issues)
        took = time.monotonic() - started
        ours, database = _cpu(fleet.pids()) - ours, _cpu(fleet.database) - database
    where = f"{workers} worker{'s'[: workers - 1]} on Postgres" if workers else "one server on SQLite"
    print(
        f"{where:22} {issues / took:5.1f}/s  CPU per issue: ours {1000 * ours / issues:4.0f} ms, "
        f"database {1000 * database / issues:4.0f} ms",
        flush=True,
    )


@dataclass
class _Fleet:
    apps: Sequence[App]
    database: Sequence[int] = ()
    """The database's permanent processes."""

    def pids(self) -> Sequence[int]:
        return [app.process.pid for app in self.apps if app.process]


@contextlib.contextmanager
def _running(github: GitHubServer, folder: Path, workers: int) -> Iterator[_Fleet]:
    with contextlib.ExitStack() as stack:
        if workers:
            postgres = stack.enter_context(serve_postgres())
            settings = {"DATABASE_URL": postgres.migrated()}
            words = [(*SERVE, "--no-worker"), *[("worker",)] * workers]
            fleet = _Fleet(
                [App(github, folder / f"data{k}", settings, given, fresh=True) for k, given in enumerate(words)],
                [postgres.process.pid],
            )
        else:
            fleet = _Fleet([App(github, folder / "data", fresh=True)])
        for app in reversed(fleet.apps):  # a server without a worker is not ready
            app.start()
            stack.callback(app.kill)
        yield fleet


def _round(app: App, github: GitHubServer, repos: list[Repo], issues: int) -> None:
    expected = len(github.world.comments) + issues
    for number in range(issues):
        app.open_issue(repos[number % len(repos)], f"{TITLE}, case {number}", BODY)
    wait_for(lambda: len(github.world.comments) >= expected and not app.counts(), 900.0, app.counts, pause=0.25)


def _cpu(pids: Sequence[int]) -> float:
    """Return the processor seconds of processes, including their children that have ended."""
    ticks = 0
    for pid in pids:
        for one in processes_of(pid):
            with contextlib.suppress(OSError):
                fields = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
                ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def _many(issues: int) -> int:
    return -(-issues // PER_INSTALLATION)


if __name__ == "__main__":
    main()
