"""A crash that three people report within a day leads to one comment and one signed request."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.serve.app import App, running, wait_for
from tests.serve.test_duplicates import TITLE, crash
from tests.servers.deliveries import issue_event
from tests.servers.github_server import GitHubServer
from tests.servers.github_world import Repo

SECRET = "a-secret-of-the-operator"


@dataclass
class Receiver:
    """A server that records what it receives; the first ``faults`` requests get 503."""

    url: str = ""
    faults: int = 0
    status: int = 204
    received: list[tuple[dict[str, str], bytes]] = field(default_factory=list)


@contextmanager
def received_posts() -> Iterator[Receiver]:
    """Serve a receiver."""
    found = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            found.received.append((dict(self.headers), body))
            self.send_response(503 if len(found.received) <= found.faults else found.status)
            self.end_headers()

        def log_message(self, *_args) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        found.url = f"http://127.0.0.1:{server.server_port}/alerts"
        yield found
        server.shutdown()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with received_posts() as found:
        yield found


@pytest.fixture
def app(github: GitHubServer, receiver: Receiver, tmp_path: Path) -> Iterator[App]:
    hook = {"TRIAGE_ALERT_URL": receiver.url, "TRIAGE_ALERT_SECRET": SECRET}
    with running(github, tmp_path / "data", **hook) as app:
        yield app


@pytest.fixture
def own(github: GitHubServer, repo: Repo) -> Repo:
    """Return a separate repository with the same code."""
    number = 3_000 + len(github.world.repos)
    name = f"octo/crashes-{os.urandom(3).hex()}"
    return github.world.repository(name, installation=number, git=repo.git, head=repo.head)


def crashed(app: App, github: GitHubServer, repo: Repo, author: str, day: datetime | None = None) -> int:
    """Report the crash as a person, now or on a day; return the issue's number when its run is over."""
    number = github.world.open_issue(repo, f"{TITLE} for {author}", crash(), author=author)["number"]
    opened = (day or datetime.now(UTC)).strftime("%Y-%m-%dT%H:%M:%SZ")
    github.world.repos[repo.id].issues[number]["created_at"] = opened
    assert app.deliver("issues", issue_event(github.world, repo, number, "opened")) == 202
    wait_for(lambda: app.logged("triage", app.key(repo, number)), 60.0, lambda: app.log[-5:])
    app.settled(60.0)
    return number


def alerts(github: GitHubServer, repo: Repo, *numbers: int) -> list[str]:
    return [body for n in numbers for body in github.world.ours(repo, n) if body.startswith("<!-- triage:alert")]


def test_three_reporters_lead_to_one_alert(app: App, github: GitHubServer, own: Repo, receiver: Receiver) -> None:
    receiver.faults = 1
    numbers = [crashed(app, github, own, author) for author in ("ann", "ben", "ann")]
    assert alerts(github, own, *numbers) == []
    numbers.append(crashed(app, github, own, "cleo"))
    wait_for(lambda: len(receiver.received) == 1, 60.0, lambda: app.log[-5:])
    app.pass_time(3_600.0)  # the receiver refused the first request
    wait_for(lambda: len(receiver.received) == 2, 60.0, lambda: app.log[-5:])
    app.settled(60.0)
    (alert,) = alerts(github, own, *numbers)
    assert alert in github.world.ours(own, numbers[0])
    assert "**3 people reported this crash within 24 hours.**" in alert
    assert f"Other reports: `#{numbers[1]}`, `#{numbers[2]}`, `#{numbers[3]}`." in alert
    first, (headers, body) = receiver.received
    assert first[1] == body
    assert first[0]["X-Tracehound-Delivery"] == headers["X-Tracehound-Delivery"]
    signed = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    assert headers["X-Tracehound-Signature-256"] == f"sha256={signed}"
    event = json.loads(body)
    assert (event["event"], event["repository"], event["issues"]) == ("crash", own.full_name, numbers)
    assert event["reporters"] == 3
    numbers.append(crashed(app, github, own, "dora"))
    app.pass_time(3_600.0)
    app.settled(60.0)
    assert (len(alerts(github, own, *numbers)), len(receiver.received)) == (1, 2)


@pytest.mark.parametrize("how", ["off", "old", "label"])
def test_no_comment_is_posted(app: App, github: GitHubServer, own: Repo, receiver: Receiver, how: str) -> None:
    if how == "off":
        own.files[".github/triage.yml"] = "crash_alerts: false\n"
    day = datetime(2020, 1, 1, tzinfo=UTC) if how == "old" else None
    numbers = [crashed(app, github, own, author, day) for author in ("ann", "ben")]
    if how == "label":
        own.files[".github/triage.yml"] = "mode: label\n"
    numbers.append(crashed(app, github, own, "cleo", day))
    app.pass_time(3_600.0)
    app.settled(60.0)
    assert alerts(github, own, *numbers) == []
    assert len(receiver.received) == (1 if how == "label" else 0)
