"""The emulator of GitHub from npm's ``emulate``: an independent implementation of GitHub's behaviour.

It verifies the App's signed token and the permissions of each installation token, and it delivers signed webhooks
itself.
"""

from __future__ import annotations

import json
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import yaml

from tests.cli.process import ROOT
from tests.emulated.front import Front, front_of
from tests.serve.app import wait_for

FOLDER = ROOT / ".tools" / "emulate" / "node_modules"
OWNER, REPORTER, TRIAGER, STRANGER = "octo", "rita", "mia", "mallory"
PEOPLE = (OWNER, REPORTER, TRIAGER, STRANGER)
NAME = f"{OWNER}/feedbox"
_COMMAND = (FOLDER / "node" / "bin" / "node", FOLDER / "emulate" / "dist" / "index.js", "start", "--service", "github")
APP_ID, INSTALLATION = 4711, 7
CLIENT_ID, CLIENT_SECRET = "Iv1.emulated", "the client's secret"
SECRET = "a secret of the webhook"
START = 60.0
"""Seconds on an idle machine."""


def installed() -> bool:
    """Return whether ``.ci/emulate`` has run."""
    return (FOLDER / "emulate" / "dist" / "index.js").exists() and (FOLDER / "node" / "bin" / "node").exists()


@dataclass
class Emulator:
    """A running emulator, and the actions of people on it."""

    front: Front
    http: httpx.Client

    @property
    def url(self) -> str:
        """Return the address of both the API and the pages."""
        return self.front.url

    def ask(self, login: str, method: str, path: str, **body: Any) -> Any:
        """Send a request as a person; return the decoded response."""
        answer = self.http.request(
            method, path, json=body or None, headers={"Authorization": f"Bearer {token_of(login)}"}
        )
        assert answer.is_success, answer.text
        return answer.json() if answer.content else None

    def open_issue(self, title: str, body: str) -> int:
        """Open an issue as the reporter."""
        number: int = self.ask(REPORTER, "POST", f"/repos/{NAME}/issues", title=title, body=body)["number"]
        return number

    def comment(self, number: int, body: str, login: str = REPORTER) -> dict[str, Any]:
        """Write a comment as a person."""
        made: dict[str, Any] = self.ask(login, "POST", f"/repos/{NAME}/issues/{number}/comments", body=body)
        return made

    def ours(self, number: int) -> list[str]:
        """Return the texts of the App's comments."""
        found = self.ask(OWNER, "GET", f"/repos/{NAME}/issues/{number}/comments?per_page=100")
        return [comment["body"] for comment in found if comment["user"]["login"] == "tracehound[bot]"]

    def report(self, number: int) -> str:
        """Return the only report; empty if none exists yet."""
        found = [body for body in self.ours(number) if body.startswith("<!-- triage:report")]
        assert len(found) <= 1, found
        return found[0] if found else ""


def token_of(login: str) -> str:
    """Return a person's token."""
    return f"token-of-{login}"


@contextmanager
def emulating(folder: Path, repository: Path, *, private_key: str, app: str) -> Iterator[Emulator]:
    """Run the emulator with a private repository that the App is installed in.

    Args:
        folder: where its seed and its log are written.
        repository: the repository for git clients.
        private_key: the App's.
        app: the address at which the App will listen.
    """
    with front_of(repository, NAME) as front, (folder / "emulate.log").open("wb") as log:
        port = free_port()
        front.emulator = f"127.0.0.1:{port}"
        seed = folder / "seed.json"
        seed.write_text(json.dumps(_seed(private_key, app)))
        process = subprocess.Popen(
            [*_COMMAND, "--port", str(port), "--seed", str(seed), "--base-url", front.url],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            with httpx.Client(base_url=front.url, timeout=60) as http:
                wait_for(lambda: _answers(front), START, (folder / "emulate.log").read_text)
                emulator = Emulator(front, http)
                _settle(emulator)
                yield emulator
        finally:
            process.kill()
            process.wait()


def _settle(emulator: Emulator) -> None:
    """Set up what a seed cannot: collaborators' roles, labels, and the App's configuration in the repository."""
    for login, permission in ((REPORTER, "pull"), (TRIAGER, "triage"), (STRANGER, "pull")):
        emulator.ask(OWNER, "PUT", f"/repos/{NAME}/collaborators/{login}", permission=permission)
    for label in ("bug", "needs-info"):
        emulator.ask(OWNER, "POST", f"/repos/{NAME}/labels", name=label, color="d73a4a")


def _answers(front: Front) -> bool:
    try:
        return front.ask("GET", "/meta", b"", {})[0] == 200
    except OSError:
        return False


def _seed(private_key: str, app: str) -> dict[str, Any]:
    manifest = yaml.safe_load((ROOT / "app.yml").read_text())
    return {
        "tokens": {token_of(login): {"login": login, "scopes": ["repo", "user"]} for login in PEOPLE},
        "github": {
            "users": [{"login": login} for login in PEOPLE],
            "repos": [{"owner": OWNER, "name": "feedbox", "private": True, "auto_init": True}],
            "oauth_apps": [
                {
                    "client_id": CLIENT_ID,
                    "client_secret": CLIENT_SECRET,
                    "name": "tracehound",
                    "redirect_uris": [f"{app}/login/github/callback"],
                }
            ],
            "apps": [
                {
                    "app_id": APP_ID,
                    "slug": "tracehound",
                    "name": "tracehound",
                    "private_key": private_key,
                    "permissions": manifest["default_permissions"],
                    "events": manifest["default_events"],
                    "webhook_url": f"{app}/webhooks/github",
                    "webhook_secret": SECRET,
                    "installations": [{"installation_id": INSTALLATION, "account": OWNER}],
                }
            ],
        },
    }


def free_port() -> int:
    """Return an unused port."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port
