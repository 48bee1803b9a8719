"""Kill the server and let GitHub fail while many issues arrive; every issue must end with exactly one report.

python -m benchmarks.chaos.storm                               200 issues, 20 kills, ten silent minutes; half an hour
python -m benchmarks.chaos.storm --issues 150 --kills 100 --silence 0    ten minutes on files; --postgres on Postgres
"""

from __future__ import annotations

import argparse
import contextlib
import random
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from benchmarks.chaos.fleet import repositories
from tests.serve.app import App, memory_of, running
from tests.serve.conftest import BODY, TITLE
from tests.servers.deliveries import issue_event
from tests.servers.github_server import LOST_ANSWER, RESET, Call, Fault, GitHubServer, serve_github
from tests.servers.github_world import Repo
from tests.servers.postgres import serve_postgres
from tests.support.patience import wait_while_moving

FAULTS = (
    LOST_ANSWER,
    RESET,
    Fault(after=True),
    Fault(status=500, after=True),
    Fault(status=503),
    Fault(delay=3.0),
    Fault(status=403, headers={"Retry-After": "1"}, message="You have exceeded a secondary rate limit."),
    Fault(status=429, headers={"Retry-After": "2"}, message="Too many requests"),
)
UNNAMED = Fault(status=403, message="You have exceeded a secondary rate limit.")
"""A fault that costs a minute, because that is the pause if GitHub names no time."""


@dataclass
class Weather:
    """Chooses the faults of calls, deterministically by seed and order."""

    rate: float
    dice: random.Random
    faults: Sequence[Fault] = FAULTS
    silent_until: float = 0.0
    met: int = 0

    def __call__(self, call: Call) -> Fault | None:
        if time.monotonic() < self.silent_until:
            return Fault(delay=min(11.0, self.silent_until - time.monotonic()))
        if self.dice.random() >= self.rate:
            return None
        self.met += 1
        return self.dice.choice(self.faults)


@dataclass
class Outcome:
    """The result of a run."""

    issues: int
    seconds: float
    faults: int
    left: int
    """Number of issues without a report at the beginning of the quiet period."""
    posts: int
    blind: int
    """Number of comment POSTs that followed another one without reading the comments in between."""
    reports: Counter[int]
    """Number of issues by their number of reports."""
    memory: int
    states: Counter[str]
    """Unfinished jobs by kind, except reactions that wait for the write limit."""


def storm(
    issues: int,
    kills: int,
    *,
    folder: Path,
    rate: float = 0.1,
    silence: float = 0.0,
    seed: int = 1,
    faults: Sequence[Fault] = FAULTS,
    **settings: str,
) -> Outcome:
    """Open issues while faults occur, then wait until all work is done."""
    started = time.monotonic()
    with serve_github() as github:
        repos = repositories(github, folder, issues)
        with running(github, folder / "data", **settings) as app:
            world = github.world
            places = [repos[number % len(repos)] for number in range(issues)]
            opened = [
                (repo, world.open_issue(repo, f"{TITLE}, case {n}", BODY)["number"]) for n, repo in enumerate(places)
            ]
            weather = Weather(rate, random.Random(seed), faults)
            github.fault = weather
            arriving = threading.Thread(target=_deliver_issues, args=(app, opened, kills, seed))
            arriving.start()
            _kill(app, kills, seed)
            arriving.join()
            weather.silent_until = time.monotonic() + silence

            def reported() -> int:
                """Return the number of issues with a report."""
                return sum(bool(world.reports(*one)) for one in opened)

            left = issues - reported()
            wait_while_moving(lambda: reported() == issues, reported, app.picture, silence=silence)
            github.fault = lambda _call: None
            wait_while_moving(lambda: not app.unfinished(), app.unfinished, app.picture)
            assert app.process is not None
            memory, states = memory_of(app.process.pid), app.unfinished()
        reports = Counter(len(world.ours(*one)) for one in opened)
        posts = sum(call.method == "POST" and call.path.endswith("/comments") for call in github.calls)
        seconds = time.monotonic() - started
        return Outcome(issues, seconds, weather.met, left, posts, blind_posts(github), reports, memory, states)


def _deliver_issues(app: App, opened: Sequence[tuple[Repo, int]], kills: int, seed: int) -> None:
    """Send each delivery twice in random order until it is accepted, as the reconciler would."""
    dice = random.Random(seed + 1)
    twice = [*opened, *opened]
    pause = max(kills, 1) * 1.5 / len(twice)
    dice.shuffle(twice)
    for repo, number in twice:
        body = issue_event(app.github.world, repo, number, "opened")
        while not _delivered(app, body, f"delivery-{repo.id}-{number}"):
            time.sleep(0.2)
        time.sleep(pause * dice.random() * 2)


def _delivered(app: App, body: bytes, guid: str) -> bool:
    try:
        return app.deliver("issues", body, guid) == 202
    except (httpx.HTTPError, httpx.InvalidURL):
        return False  # it is not running at the moment


def _kill(app: App, kills: int, seed: int) -> None:
    dice = random.Random(seed + 2)
    for _ in range(kills):
        time.sleep(0.5 + 2.5 * dice.random())
        app.kill()
        app.start(ready=False)


def blind_posts(github: GitHubServer) -> int:
    """Return the number of comments that were posted again (by their marker) without reading the issue's comments."""
    posted: dict[str, set[str]] = defaultdict(set)
    blind = 0
    for call in github.calls:
        if not call.path.endswith("/comments"):
            continue
        if call.method == "GET":
            posted[call.path].clear()
        elif call.method == "POST":
            marker = str(call.body["body"]).partition("\n")[0].partition(" run=")[0]
            blind += marker in posted[call.path]
            posted[call.path].add(marker)
    return blind


def main() -> None:
    """Print the result."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--issues", type=int, default=200)
    options.add_argument("--kills", type=int, default=20)
    options.add_argument("--silence", type=float, default=600.0, help="seconds during which GitHub does not respond")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--postgres", action="store_true", help="on a separate Postgres instead of files")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        settings: dict[str, Any] = {}
        if given.postgres:
            settings["DATABASE_URL"] = stack.enter_context(serve_postgres()).migrated()
        outcome = storm(
            given.issues,
            given.kills,
            folder=Path(folder),
            silence=given.silence,
            seed=given.seed,
            faults=(*FAULTS, UNNAMED),
            **settings,
        )
    rows = {
        "issues, each delivery twice": outcome.issues,
        "kills of the server": given.kills,
        "calls of GitHub that failed": outcome.faults,
        "seconds of silence, reports to write then": f"{given.silence:.0f}, {outcome.left}",
        "comments per issue": dict(outcome.reports),
        "POSTs, and those repeated blindly": f"{outcome.posts}, {outcome.blind}",
        "jobs that are left, by kind": dict(outcome.states) or "none",
        "memory, MiB": round(outcome.memory / 2**20),
        "seconds in all": round(outcome.seconds),
    }
    print("\n".join(f"{name:<42} {value}" for name, value in rows.items()))
    kept = outcome.reports == {1: outcome.issues} and not outcome.blind and not outcome.states
    raise SystemExit(0 if kept else "a promise was broken")


if __name__ == "__main__":
    main()
