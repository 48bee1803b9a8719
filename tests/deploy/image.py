"""Triage an issue with the built images, against a simulated GitHub: what was left out of them is not needed.

python -m tests.deploy.image SERVER ACTION: the commands that run a program in each image
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from tests.serve.app import HTTP, App
from tests.serve.conftest import BODY, FILES, TITLE
from tests.servers.github_server import GitHubServer, serve_github
from tests.servers.github_world import GRANTED, Repo
from tests.support.patience import patience, wait_for
from tests.support.repositories import make_repository

TOKEN = "ghp_" + "runner00" * 5


@dataclass
class ImageApp(App):
    """The server in an image, with its data inside."""

    within: list[str] = field(default_factory=list)
    """The command that runs a program in the image."""

    def command(self) -> list[str]:
        """Return the command that starts it."""
        # The operator's file of the other tests is not in the image, and one issue needs no higher limit.
        given = {name: value for name, value in self.variables().items() if name != "TRIAGE_CONFIG"}
        return [*self.within, *assigned(given), "triage", *self.words]


def assigned(variables: dict[str, str]) -> list[str]:
    """Return the command that sets variables for another command; an image does not inherit the caller's."""
    return ["env", *(f"{name}={value}" for name, value in variables.items())]


def serve_an_issue(github: GitHubServer, repo: Repo, folder: Path, within: list[str]) -> None:
    """Start the server, ask for its health, and wait for the comment on a new issue."""
    app = ImageApp(github, folder / "data", {"TRIAGE_DATA_DIR": "/data"}, fresh=True, within=within)
    app.start()
    try:
        health = HTTP.get(f"{app.url}/healthz", timeout=patience(10))
        assert health.status_code == 200, health.text
        number = app.open_issue(repo, TITLE, BODY)
        wait_for(lambda: any("feedbox/dates.py" in body for body in github.world.reports(repo, number)), 60.0)
    finally:
        app.stop()


def run_an_issue(github: GitHubServer, repo: Repo, within: list[str]) -> None:
    """Read an issue from GitHub, fetch its repository, and expect the place."""
    number = github.world.open_issue(repo, TITLE, BODY)["number"]
    github.world.tokens[TOKEN] = {"repositories": [repo.id], "permissions": GRANTED}
    addresses = {"GITHUB_API_URL": github.url, "GITHUB_SERVER_URL": github.url}
    given = {**addresses, "GITHUB_TOKEN": TOKEN, "TRIAGE_DATA_DIR": "/tmp/data"}
    run = ["triage", "run", f"{repo.full_name}#{number}", "--brain", "rules", "--format", "json"]
    done = subprocess.run(
        [*within, *assigned(given), *run], capture_output=True, text=True, timeout=patience(120), check=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["report"]["suspects"][0]["path"] == "feedbox/dates.py", done.stdout


def main() -> None:
    """Try both images."""
    server, action = (shlex.split(argument) for argument in sys.argv[1:])
    with serve_github() as github, tempfile.TemporaryDirectory() as folder:
        origin = Path(folder) / "origin"
        repo = github.world.repository("octo/feedbox", git=origin, head=make_repository(origin, FILES))
        run_an_issue(github, repo, action)
        serve_an_issue(github, repo, Path(folder), server)


if __name__ == "__main__":
    main()
