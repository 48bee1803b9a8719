"""Issues a second from delivery to comment by rules, on small repositories whose mirrors are warm.

python -m tests.load.throughput --issues 300

Content writes are capped per installation, so the issues are spread over several.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path

from tests.github_server import GitHubServer, serve_github
from tests.github_world import Repo
from tests.repositories import make_repository
from tests.serve.app import App, processes_of, running, wait_for
from tests.serve.conftest import BODY, FILES, TITLE

PER_INSTALLATION = 15
"""Issues, each with a comment and a reaction or two, that stay below the writes of a minute."""


def main() -> None:
    """Print what one server came to."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--issues", type=int, default=300)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder, serve_github() as github:
        origin = Path(folder) / "origin"
        sha = make_repository(origin, FILES)
        many = -(-given.issues // PER_INSTALLATION)
        repos = [
            github.world.repository(f"octo/feedbox{k}", installation=100 + k, git=origin, head=sha) for k in range(many)
        ]
        with running(github, Path(folder) / "data") as app:
            _round(app, github, repos, many)
            spent, began = _cpu(app), time.monotonic()
            _round(app, github, repos, given.issues)
            took, spent = time.monotonic() - began, _cpu(app) - spent
            print(
                f"{given.issues} issues over {many} installations: {given.issues / took:.1f}/s, "
                f"{1000 * spent / given.issues:.0f} ms of processor each"
            )


def _round(app: App, github: GitHubServer, repos: list[Repo], issues: int) -> None:
    expected = len(github.world.comments) + issues
    for number in range(issues):
        app.open_issue(repos[number % len(repos)], f"{TITLE}, case {number}", BODY)
    wait_for(lambda: len(github.world.comments) >= expected and not app.counts(), 900.0, app.counts, pause=0.25)


def _cpu(app: App) -> float:
    """Seconds of processor that the server and its children took."""
    assert app.process is not None
    ticks = 0
    for pid in processes_of(app.process.pid):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
