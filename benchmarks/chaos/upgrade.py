"""Upgrade two servers and three workers on one Postgres, one process at a time, while issues arrive and are answered.

python -m benchmarks.chaos.upgrade COMMIT                  from that release to this checkout; five minutes
python -m benchmarks.chaos.upgrade COMMIT --files          the same for one server on files; two minutes
python -m benchmarks.chaos.upgrade COMMIT --keep FILE      save a database of that release at work, for tests/upgrade
"""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.chaos.fleet import Fleet, repositories
from benchmarks.chaos.many import Arriving, disordered
from tests.cli.process import ROOT, environment
from tests.serve.app import WAIT_BY_NATURE, App
from tests.serve.conftest import BODY, TITLE
from tests.servers.github_server import serve_github
from tests.servers.github_world import Repo
from tests.servers.postgres import serve_postgres
from tests.support.patience import wait_for

ANSWER = "I call `parse_date` from feedbox/dates.py with a zone of -0700 and it gives a wrong number of minutes."
LATENCY = 0.4
"""Seconds that GitHub takes to respond, so that each stop interrupts work."""


def main() -> None:
    """Print the result."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("commit", help="commit of the older release")
    options.add_argument("--issues", type=int, default=60)
    options.add_argument("--files", action="store_true", help="one server on files, killed amid its work")
    options.add_argument("--keep", type=Path, metavar="FILE")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as name, serve_postgres() as postgres, serve_github() as github:
        folder, old = Path(name), Path(name) / "old"
        old.mkdir()
        archive = subprocess.run(["git", "archive", given.commit], cwd=ROOT, check=True, capture_output=True).stdout
        subprocess.run(["tar", "-x"], cwd=old, input=archive, check=True)
        github.fault = lambda _call: time.sleep(LATENCY)
        # The older release may not know the operator's file of this one; its variables must still be read.
        settings = {"PYTHONPATH": str(old), "TRIAGE_CONFIG": "", "TRIAGE_LIMITS_AUTHOR": "none"}
        if given.files:
            app = App(github, folder / "data", settings, fresh=True)
            try:
                faults = upgraded_file(app, folder, given.issues)
            finally:
                app.kill()
            raise SystemExit(f"guarantees broken: {faults}" if faults else 0)
        url = postgres.create()
        migrate(url, old)
        fleet = Fleet(github, postgres, url, folder, settings=settings, fresh=True)
        try:
            fleet.start()
            if given.keep:
                keep(fleet, given.keep)
                return
            faults = upgraded(fleet, given.issues)
        finally:
            fleet.stop()
    raise SystemExit(f"guarantees broken: {faults}" if faults else 0)


def migrate(url: str, code: Path) -> None:
    """Run ``triage migrate`` of a release."""
    given = environment(DATABASE_URL=url, PYTHONPATH=str(code))
    subprocess.run([sys.executable, "-m", "bot", "migrate"], env=given, cwd=code.parent, check=True)


def upgraded(fleet: Fleet, issues: int) -> list[str]:
    """Upgrade while issues arrive and questions are answered; print the result and return the broken guarantees."""
    world, repos = fleet.github.world, repositories(fleet.github, fleet.folder, issues)
    asked = [(repo, ask_reporter(fleet.apps[0], repo)) for repo in repos]
    arriving = Arriving(fleet, repos, issues, seed=1)
    arriving.start()
    for done, app in enumerate(fleet.apps):
        due = done * issues // 6
        wait_for(lambda due=due: len(arriving.opened) > due, 120.0, fleet.status, pause=0.1)
        if not done:
            migrate(fleet.url, ROOT)
        print(f"{app.words[0]}: ended with {app.stop()}, starts as the new release", flush=True)
        app.settings["PYTHONPATH"] = str(ROOT)
        app.start()
        fleet.progress = (done + 1) / len(fleet.apps)
        for repo, number in asked[done :: len(fleet.apps)]:
            fleet.receivers[-1].comment(repo, number, ANSWER)
    arriving.join()
    fleet.calm(arriving.opened)
    tracebacks = [line for app in fleet.apps for line in app.log if "traceback" in line]
    found = {
        "issues, each delivery twice": (len(arriving.opened), issues),
        "comments of ours for each": (Counter(len(world.ours(*one)) for one in arriving.opened), {1: issues}),
        "reports for each answered question": (Counter(len(world.reports(*one)) for one in asked), {1: len(asked)}),
        "answers that were read": (sum("[answered](" in world.reports(*one)[0] for one in asked), len(asked)),
        "runs for each answered question": (runs_of(fleet.apps[0], asked), {1: len(asked)}),
        "jobs out of their issue's order": (disordered(fleet.url), 0),
        "jobs that are dead or left": (left(fleet), 0),
        "tracebacks logged": (len(tracebacks), 0),
    }
    faults = broken(found)
    print(f"{'deliveries refused, and sent again':<42} {arriving.refused}")
    print(
        *tracebacks,
        *(one for one in map(world.reports, *zip(*asked, strict=True)) if "[answered](" not in one[0]),
        sep="\n",
    )
    return faults


def keep(fleet: Fleet, file: Path) -> None:
    """Save a database with a run that waits, a run whose worker died, and a delivery that no worker has read."""
    world, (repo,) = fleet.github.world, repositories(fleet.github, fleet.folder, 1)
    waiting = ask_reporter(fleet.apps[0], repo)
    wait_for(lambda: not left(fleet), 60.0, fleet.status, pause=0.1)
    started = fleet.apps[0].open_issue(repo, TITLE, BODY)
    wait_for(lambda: len(fleet.apps[0].ask("SELECT 1 FROM runs")) > 1, 60.0, fleet.status)
    for app in fleet.workers:
        app.kill()
    queued = fleet.apps[0].open_issue(repo, f"{TITLE}, again", BODY)
    words = ["pg_dump", "--inserts", "--no-owner", fleet.url]
    kept = {
        "host": world.url.partition("//")[2],
        "repository": {"id": repo.id, "full_name": repo.full_name, "installation": repo.installation},
        "issues": repo.issues,
        "comments": world.comments,
        "numbers": [waiting, started, queued],
        "dump": subprocess.run(words, check=True, capture_output=True, text=True).stdout,
    }
    file.write_bytes(gzip.compress(json.dumps(kept).encode(), 9, mtime=0))


def ask_reporter(app: App, repo: Repo) -> int:
    """Open an issue with almost no information; return its number when its reporter was asked a question."""
    number = app.open_issue(repo, "It breaks", "")
    wait_for(lambda: "**Q1**" in "".join(app.github.world.reports(repo, number)), 120.0, app.counts, pause=0.1)
    return number


def upgraded_file(app: App, folder: Path, issues: int) -> list[str]:
    """Kill a server on files amid its work, start the new release, and answer; return the broken guarantees."""
    world, repos = app.github.world, repositories(app.github, folder, issues)
    app.start()
    asked = [(repo, ask_reporter(app, repo)) for repo in repos]
    opened = [
        (repo, app.open_issue(repo, f"{TITLE}, old", BODY)) for repo in repos for _ in range(issues // len(repos))
    ]
    wait_for(lambda: bool(app.ask("SELECT 1 FROM jobs WHERE state = 'doing'")), 60.0, app.counts, pause=0.02)
    app.kill()
    left = sum(app.unfinished().values())
    app.settings["PYTHONPATH"] = str(ROOT)
    app.start()
    opened += [(repo, app.open_issue(repo, f"{TITLE}, new", BODY)) for repo in repos]
    for one in asked:
        app.comment(*one, ANSWER)
    wait_for(lambda: all(world.reports(*one) for one in opened), 600.0, app.counts, pause=0.2)
    wait_for(lambda: not app.unfinished(), 300.0, app.unfinished, pause=0.2)
    print(f"{'jobs that the old release left':<42} {left}")
    return broken(
        {
            "comments of ours for each": (Counter(len(world.ours(*one)) for one in opened), {1: len(opened)}),
            "reports for each answered question": (Counter(len(world.reports(*one)) for one in asked), {1: len(asked)}),
            "answers that were read": (sum("[answered](" in world.reports(*one)[0] for one in asked), len(asked)),
            "runs for each answered question": (runs_of(app, asked), {1: len(asked)}),
            "tracebacks logged": (sum("traceback" in line for line in app.log), 0),
        }
    )


def broken(found: Mapping[str, tuple[Any, Any]]) -> list[str]:
    """Print the figures, and return the names of those that differ from what is guaranteed."""
    for name, (was, _) in found.items():
        print(f"{name:<42} {dict(was) if isinstance(was, Counter) else was}")
    return [name for name, (was, guaranteed) in found.items() if was != guaranteed]


def runs_of(app: App, issues: list[tuple[Repo, int]]) -> Counter[int]:
    """Return the number of issues by their number of runs."""
    rows = dict(app.ask("SELECT issue_key, count(*) FROM runs GROUP BY issue_key"))
    return Counter(rows[app.key(*one)] for one in issues)


def left(fleet: Fleet) -> int:
    """Return the number of jobs that are not done and do not wait by design."""
    rows = fleet.apps[0].ask("SELECT work FROM jobs WHERE state <> 'done'")
    return sum(json.loads(work)["kind"] not in WAIT_BY_NATURE for (work,) in rows)


if __name__ == "__main__":
    main()
