"""Measure how fast deliveries are acknowledged while triages run, compared with other software in the same run.

``make load`` fetches the other software first; missing programs are left out and named in the output.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tests.serve.app import running, wait_for
from tests.serve.conftest import BODY, FILES, TITLE
from tests.servers.deliveries import SECRET, headers, issue_event
from tests.servers.github_server import serve_github
from tests.support.repositories import make_repository

CONNECTIONS, ROUNDS = 8, 5


ROOT = Path(__file__).parents[2]
GIDGETHUB, PROBOT = ROOT / ".tools" / "rivals" / "bin" / "python", ROOT / ".tools" / "probot"


def main() -> None:
    """Print one line per server."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seconds", type=float, default=10.0, help="duration of each measurement")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder, serve_github() as github, contextlib.ExitStack() as stack:
        origin = Path(folder) / "origin"
        repo = github.world.repository("octo/feedbox", git=origin, head=make_repository(origin, FILES))
        number = github.world.open_issue(repo, TITLE, BODY)["number"]
        opened = issue_event(github.world, repo, number, "opened")
        star = issue_event(github.world, repo, number, "created")
        print(f"{CONNECTIONS} connections, load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        with running(github, Path(folder) / "busy", fresh=True) as app:
            durable = _load(f"{app.url}/webhooks/github", "issues", opened, given.seconds)
        _say("issues.opened, durably, triaging", durable)
        print(f"{'fsync of 16 kB alone':<34}{'':>9}  {'':>13}  p99 {_fsync(Path(folder)):6.1f} ms")
        ours = f"{stack.enter_context(running(github, Path(folder) / 'idle', fresh=True)).url}/webhooks/github"
        others = [(name, stack.enter_context(_rival(command))) for name, command in _rivals()]
        for name, figures in _in_turns([("ours", ours), *others], star, given.seconds):
            _say(f"ignored events, {name}", figures)


def _in_turns(
    contenders: Sequence[tuple[str, str]], body: bytes, seconds: float
) -> Iterator[tuple[str, Mapping[str, float]]]:
    """Yield the median round of each; rounds alternate, so that other load on the machine affects all equally."""
    met: dict[str, list[Mapping[str, float]]] = {name: [] for name, _ in contenders}
    for turn in range(ROUNDS):
        for name, url in (*contenders[turn % len(contenders) :], *contenders[: turn % len(contenders)]):
            met[name].append(_load(url, "star", body, seconds / ROUNDS))
    for name, rounds in met.items():
        yield name, sorted(rounds, key=lambda figures: figures["rate"])[ROUNDS // 2]


def _rivals() -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the fetched programs as commands, to which a port and a secret are appended."""
    if GIDGETHUB.exists():
        yield "gidgethub", (str(GIDGETHUB), str(Path(__file__).with_name("rival.py")))
    else:
        print("gidgethub is not installed: make load fetches it")
    if PROBOT.exists():
        yield "Probot", ("node", str(Path(__file__).with_name("rival.mjs")), str(PROBOT))
    else:
        print("Probot is not installed: make load fetches it with npm")


def _load(url: str, event: str, body: bytes, seconds: float) -> Mapping[str, float]:
    sent = headers(event, body)
    for own in ("X-GitHub-Delivery", "X-Hub-Signature-256"):  # the client's
        del sent[own]
    order = {"url": url, "headers": sent, "body": body.decode(), "connections": CONNECTIONS, "seconds": seconds}
    command = [sys.executable, "-m", "benchmarks.load.client"]
    done = subprocess.run(command, input=json.dumps(order).encode(), capture_output=True, check=False, cwd=ROOT)
    if done.returncode:
        raise SystemExit(done.stderr.decode())
    found: Mapping[str, float] = json.loads(done.stdout)
    return found


@contextlib.contextmanager
def _rival(command: Sequence[str]) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    rival = subprocess.Popen([*command, str(port), SECRET])
    try:
        wait_for(lambda: socket.socket().connect_ex(("127.0.0.1", port)) == 0, 20.0)
        yield f"http://127.0.0.1:{port}/webhooks/github"
    finally:
        rival.terminate()
        rival.wait()


def _fsync(folder: Path) -> float:
    """Return the 99th percentile of 300 fsync calls in milliseconds."""
    taken = []
    with (folder / "probe").open("wb", buffering=0) as file:
        for _ in range(300):
            started = time.perf_counter()
            file.write(b"x" * 16_384)
            os.fsync(file.fileno())
            taken.append(time.perf_counter() - started)
    return 1000 * sorted(taken)[int(len(taken) * 0.99)]


def _say(what: str, found: Mapping[str, float]) -> None:
    figures = "  ".join(f"{name} {found[name]:6.1f} ms" for name in ("p50", "p99", "worst"))
    print(f"{what:<34} {found['rate']:7.0f}/s  {figures}", flush=True)


if __name__ == "__main__":
    main()
