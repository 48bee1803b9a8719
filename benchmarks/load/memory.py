"""Measure the resident memory of the server and its worker while many issues of one repository arrive.

python -m benchmarks.load.memory --issues 2000
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from tests.serve.app import memory_of, running, wait_for
from tests.serve.conftest import BODY, FILES, TITLE
from tests.servers.github_server import serve_github
from tests.support.repositories import make_repository


def main() -> None:
    """Print one line for every two hundred issues."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--issues", type=int, default=2_000)
    options.add_argument(
        "--mode",
        default="dry-run",
        help="the mode of the repository; `comment` is slowed by GitHub's limit of 80 writes a minute",
    )
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder, serve_github() as github:
        origin = Path(folder) / "origin"
        sha = make_repository(origin, FILES)
        repo = github.world.repository(
            "octo/feedbox", git=origin, head=sha, files={".github/triage.yml": f"mode: {given.mode}\n"}
        )
        with running(github, Path(folder) / "data", fresh=True) as app:
            assert app.process is not None
            started = time.monotonic()
            for number in range(1, given.issues + 1):
                app.open_issue(repo, f"{TITLE}, case {number}", BODY)
                if number % 200 == 0:
                    wait_for(lambda: not app.counts(), 900.0, app.counts)
                    taken, disk = memory_of(app.process.pid), app.size()
                    rate = number / (time.monotonic() - started)
                    print(
                        f"{number} issues, {rate:.1f}/s: {taken / 2**20:.0f} MiB, disk {disk / 2**20:.0f} MiB",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
