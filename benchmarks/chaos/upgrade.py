"""Upgrade two servers and three workers on one Postgres, one process at a time, while issues arrive and are answered.

python -m benchmarks.chaos.upgrade COMMIT                  from that release to this checkout; five minutes
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
from pathlib import Path

from benchmarks.chaos.fleet import Fleet, repositories
from benchmarks.chaos.many import Arriving, disordered
from tests.cli.process import ROOT, environment
from tests.serve.app import WAIT_BY_NATURE
from tests.serve.conftest import BODY, TITLE
from tests.servers.deliveries import comment_event, issue_event
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
    options.add_argument("--keep", type=Path, metavar="FILE")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as name, serve_postgres() as postgres, serve_github() as github:
        folder, old = Path(name), Path(name) / "old"
        old.mkdir()
        archive = subprocess.run(["git", "archive", given.commit], cwd=ROOT, check=True, capture_output=True).stdout
        subprocess.run(["tar", "-x"], cwd=old, input=archive, check=True)
        url = postgres.create()
        migrate(url, old)
        settings = {"PYTHONPATH": str(old)}
        fleet = Fleet(github, postgres, url, folder, settings=settings, fresh=True)
        github.fault = lambda _call: time.sleep(LATENCY)
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
    asked = [(repo, ask_reporter(fleet, repo)) for repo in repos]
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
            deliver_answer(fleet, repo, number)
    arriving.join()
    fleet.calm(arriving.opened)
    tracebacks = [line for app in fleet.apps for line in app.log if "traceback" in line]
    found = {
        "issues, each delivery twice": (len(arriving.opened), issues),
        "comments of ours for each": (Counter(len(world.ours(*one)) for one in arriving.opened), {1: issues}),
        "reports for each answered question": (Counter(len(world.reports(*one)) for one in asked), {1: len(asked)}),
        "answers that were read": (sum("[answered](" in world.reports(*one)[0] for one in asked), len(asked)),
        "runs for each answered question": (runs_of(fleet, asked), {1: len(asked)}),
        "jobs out of their issue's order": (disordered(fleet.url), 0),
        "jobs that are dead or left": (left(fleet), 0),
        "tracebacks logged": (len(tracebacks), 0),
    }
    for name, (was, _) in found.items():
        print(f"{name:<42} {dict(was) if isinstance(was, Counter) else was}")
    print(f"{'deliveries refused, and sent again':<42} {arriving.refused}")
    print(
        *tracebacks,
        *(one for one in map(world.reports, *zip(*asked, strict=True)) if "[answered](" not in one[0]),
        sep="\n",
    )
    return [name for name, (was, promised) in found.items() if was != promised]


def keep(fleet: Fleet, file: Path) -> None:
    """Save a database with a run that waits, a run whose worker died, and a delivery that no worker has read."""
    world, (repo,) = fleet.github.world, repositories(fleet.github, fleet.folder, 1)
    waiting = ask_reporter(fleet, repo)
    wait_for(lambda: not left(fleet), 60.0, fleet.status, pause=0.1)
    started = open_issue(fleet, repo, TITLE, BODY)
    wait_for(lambda: len(fleet.apps[0].ask("SELECT 1 FROM runs")) > 1, 60.0, fleet.status)
    for app in fleet.workers:
        app.kill()
    queued = open_issue(fleet, repo, f"{TITLE}, again", BODY)
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


def ask_reporter(fleet: Fleet, repo: Repo) -> int:
    """Open an issue with almost no information; return its number when its reporter was asked a question."""
    number = open_issue(fleet, repo, "It breaks", "")
    wait_for(lambda: "**Q1**" in "".join(fleet.github.world.reports(repo, number)), 120.0, fleet.status, pause=0.1)
    return number


def open_issue(fleet: Fleet, repo: Repo, title: str, body: str) -> int:
    """Open an issue and deliver it to one of the servers."""
    world = fleet.github.world
    number: int = world.open_issue(repo, title, body)["number"]
    assert fleet.receivers[0].deliver("issues", issue_event(world, repo, number, "opened")) == 202
    return number


def deliver_answer(fleet: Fleet, repo: Repo, number: int) -> None:
    """Answer a question."""
    comment = fleet.github.world.comment(repo, number, ANSWER, "rita")
    event = comment_event(fleet.github.world, repo, number, comment)
    assert fleet.receivers[-1].deliver("issue_comment", event) == 202


def runs_of(fleet: Fleet, issues: list[tuple[Repo, int]]) -> Counter[int]:
    """Return the number of issues by their number of runs."""
    rows = dict(fleet.apps[0].ask("SELECT issue_key, count(*) FROM runs GROUP BY issue_key"))
    return Counter(rows[fleet.apps[0].key(*one)] for one in issues)


def left(fleet: Fleet) -> int:
    """Return the number of jobs that are not done and do not wait by design."""
    rows = fleet.apps[0].ask("SELECT work FROM jobs WHERE state <> 'done'")
    return sum(json.loads(work)["kind"] not in WAIT_BY_NATURE for (work,) in rows)


if __name__ == "__main__":
    main()
