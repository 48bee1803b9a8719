"""Attack the server for minutes while GitHub sends one delivery per second; every delivery must be acknowledged.

python -m benchmarks.chaos.attacks --minutes 10    all attacks at once, from nine processes, at 512 file descriptors
"""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from benchmarks.chaos.attackers import ATTACKS
from tests.serve.app import App, memory_of
from tests.serve.conftest import BODY, FILES, TITLE
from tests.servers.deliveries import headers, issue_event
from tests.servers.github_server import GitHubServer, serve_github
from tests.servers.github_world import Repo
from tests.support.repositories import make_repository

DESCRIPTORS = 512
TOKEN = "an-operators-own-token"


@dataclass
class Outcome:
    """The result of the attacks."""

    seconds: float
    taken: list[float] = field(default_factory=list)
    """Seconds from the connection of each delivery to its acknowledgement."""
    failures: Counter[str] = field(default_factory=Counter)
    """Deliveries that were not acknowledged, by reason."""
    memory: int = 0
    """Maximum resident bytes of the server and its worker."""
    descriptors: int = 0
    """Maximum number of descriptors that the server had open."""
    operator: Counter[str] = field(default_factory=Counter)
    """Responses to the operator's token during the attacks."""
    tracebacks: int = 0
    connections: dict[str, int] = field(default_factory=dict)
    """Number of connections by attack."""
    refusals: list[str] = field(default_factory=list)
    """Refusals that the log reports."""
    lost: int = 0
    """Number of acknowledged deliveries that are not in the store."""


def attack(
    seconds: float, folder: Path, names: Sequence[str] = tuple(ATTACKS), *, pause: float = 0.0, patience: float = 10.0
) -> Outcome:
    """Run attacks concurrently with deliveries.

    Args:
        seconds: duration of the attacks.
        folder: the server's data directory.
        names: the attacks to run.
        pause: seconds between two writes on an attacker's connection.
        patience: timeout of an acknowledgement in seconds; GitHub's is ten.
    """
    outcome = Outcome(seconds)
    with serve_github() as github, contextlib.ExitStack() as stack:
        origin = folder / "origin"
        repo = github.world.repository("octo/feedbox", git=origin, head=make_repository(origin, FILES))
        settings = {
            "TRIAGE_ADMIN_TOKEN": TOKEN,
            "GITHUB_CLIENT_ID": "Iv1.client",
            "GITHUB_CLIENT_SECRET": "the client's secret",
        }
        app = App(github, folder / "data", settings, descriptors=DESCRIPTORS)
        stack.callback(app.kill)
        app.start()
        attackers = [_attacker(name, app.url, seconds, pause) for name in names]
        _deliver(app, github, repo, outcome, patience)
        for name, process in zip(names, attackers, strict=True):
            printed, _ = process.communicate(timeout=60)
            outcome.connections[name] = int(printed or 0)
        outcome.refusals = [line["message"] for line in app.log if line.get("action") == "refused"]
        outcome.tracebacks = sum("traceback" in line for line in app.log)
        outcome.lost = max(0, len(outcome.taken) - app.ask("SELECT count(*) FROM deliveries")[0][0])
    return outcome


def _attacker(name: str, url: str, seconds: float, pause: float) -> subprocess.Popen[str]:
    split = urlsplit(url)
    given = (name, str(split.hostname), str(split.port), str(seconds), str(pause))
    command = (sys.executable, "-m", "benchmarks.chaos.attackers", *given)
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2])


def _deliver(app: App, github: GitHubServer, repo: Repo, outcome: Outcome, patience: float) -> None:
    """Send one signed delivery per second, each on its own connection, as GitHub does."""
    assert app.process is not None
    started = time.monotonic()
    done = threading.Event()
    asking = threading.Thread(target=_ask_as_operator, args=(app.url, outcome, done))
    asking.start()
    number = 0
    while (now := time.monotonic()) < started + outcome.seconds:
        number += 1
        issue = github.world.open_issue(repo, f"{TITLE}, case {number}", BODY)["number"]
        _deliver_one(app.url, issue_event(github.world, repo, issue, "opened"), outcome, patience)
        outcome.memory = max(outcome.memory, memory_of(app.process.pid))
        outcome.descriptors = max(outcome.descriptors, _descriptors(app.process.pid))
        time.sleep(max(0.0, now + 1.0 - time.monotonic()))
    done.set()
    asking.join()


def _deliver_one(url: str, body: bytes, outcome: Outcome, patience: float) -> None:
    started = time.monotonic()
    try:
        # A minimal client: httpx would first load certificates, which takes longer than the response on a busy machine.
        split = urlsplit(url)
        with closing(HTTPConnection(str(split.hostname), split.port, timeout=patience)) as connection:
            connection.request("POST", "/webhooks/github", body, headers("issues", body, guid=str(uuid.uuid4())))
            answer = connection.getresponse()
            text = answer.read().decode()
    except (OSError, HTTPException) as error:
        outcome.failures[type(error).__name__] += 1
        return
    if answer.status == 202:
        outcome.taken.append(time.monotonic() - started)
    else:
        outcome.failures[f"{answer.status} {text[:60]}"] += 1


def _ask_as_operator(url: str, outcome: Outcome, done: threading.Event) -> None:
    while not done.wait(2.0):
        try:
            answer = httpx.get(f"{url}/runs", headers={"Authorization": f"Bearer {TOKEN}"}, timeout=30)
            outcome.operator[str(answer.status_code)] += 1
        except httpx.HTTPError as error:
            outcome.operator[type(error).__name__] += 1


def _descriptors(process: int) -> int:
    return len(list(Path(f"/proc/{process}/fd").iterdir()))


def main() -> None:
    """Print the result of the attacks."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--minutes", type=float, default=10.0)
    options.add_argument("--only", nargs="*", choices=tuple(ATTACKS), default=tuple(ATTACKS))
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        outcome = attack(given.minutes * 60, Path(folder), given.only)
    taken = sorted(outcome.taken)
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores, {DESCRIPTORS} file descriptors")
    print(f"{'connections by attack':<36}{outcome.connections}")
    print(f"{'deliveries acknowledged, failed':<36}{len(taken)}, {dict(outcome.failures) or 0}")
    print(f"{'acknowledged but not stored':<36}{outcome.lost}")
    if taken:
        middle, late = taken[len(taken) // 2], taken[int(len(taken) * 0.99)]
        print(f"{'seconds p50, p99, worst':<36}{middle:.3f}, {late:.3f}, {taken[-1]:.3f}")
        print(f"{'slower than one second':<36}{sum(one > 1.0 for one in taken)}")
    print(f"{'memory of server and worker':<36}{outcome.memory / 2**20:.0f} MiB")
    print(f"{'descriptors of the server':<36}{outcome.descriptors}")
    print(f"{'responses to the operator':<36}{dict(outcome.operator)}")
    print(f"{'tracebacks in the log':<36}{outcome.tracebacks}")
    for line in outcome.refusals[-3:]:
        print(line)


if __name__ == "__main__":
    main()
