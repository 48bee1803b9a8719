"""Two servers behind a balancer, three workers and one Postgres; then the backup, restored on an empty machine."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from benchmarks.chaos.fleet import Fleet
from benchmarks.chaos.many import disordered
from benchmarks.chaos.storm import blind_posts
from tests.cli.process import triage
from tests.serve.app import HTTP, ask, running
from tests.serve.conftest import BODY, FILES, TITLE
from tests.servers.deliveries import comment_event, headers, issue_event
from tests.servers.github_pages import CLIENT_ID, CLIENT_SECRET
from tests.servers.github_server import GitHubServer, serve_github
from tests.servers.github_world import Repo
from tests.servers.postgres import Postgres
from tests.support.patience import patience, wait_for
from tests.support.repositories import make_repository

PAGE = Path(__file__).parents[2] / "docs" / "operations.md"
ISSUES = 6
ANSWER = "I call `parse_date` from feedbox/dates.py with a zone of -0700 and it gives a wrong number of minutes."


@dataclass
class Balancer:
    """Passes each connection to the next server that accepts it."""

    listener: socket.socket
    fleet: Fleet | None = None
    served: list[str] = field(default_factory=list)
    """The address of the server that got each connection."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.listener.getsockname()[1]}"

    def accept(self) -> None:
        """Pass connections on until the listener is closed."""
        with suppress(OSError):
            while True:
                connection, _ = self.listener.accept()
                threading.Thread(target=self._pass_on, args=(connection,), daemon=True).start()

    def _pass_on(self, connection: socket.socket) -> None:
        with connection, self._next() as server:
            back = threading.Thread(target=_copy, args=(server, connection), daemon=True)
            back.start()
            _copy(connection, server)
            back.join()

    def _next(self) -> socket.socket:
        assert self.fleet is not None
        servers = [app.url for app in self.fleet.receivers]
        for url in (servers[len(self.served) % 2], servers[(len(self.served) + 1) % 2]):
            with suppress(OSError):
                server = socket.create_connection(("127.0.0.1", urlsplit(url).port or 0))
                self.served.append(url)
                return server
        return socket.socket()  # as if it refused


def _copy(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65_536):
            target.sendall(data)
    for one in (source, target):
        with suppress(OSError):
            one.shutdown(socket.SHUT_RDWR)


@contextmanager
def balanced() -> Iterator[Balancer]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        balancer = Balancer(listener)
        threading.Thread(target=balancer.accept, daemon=True).start()
        yield balancer


class Followed(threading.Thread):
    """The list of runs as a browser follows it, over a connection for each request."""

    def __init__(self, browser: httpx.Client) -> None:
        super().__init__(daemon=True)
        self._browser = browser
        self._seen = ""
        self.cases: set[str] = set()
        """The issues whose runs were shown."""
        self.answers = 0
        self.enough = threading.Event()

    def run(self) -> None:
        """Follow until there is enough."""
        while not self.enough.is_set():
            with suppress(httpx.HTTPError):
                self._ask()
            self.enough.wait(0.5)

    def _ask(self) -> None:
        answer = self._browser.get("/runs/rows", params={"seen": self._seen}, timeout=patience(30))
        if answer.status_code == 200:
            self._seen = answer.headers["x-seen"]
            self.answers += 1
            self.cases.update(re.findall(r"case \d+", answer.text))


@dataclass
class Machines:
    """The fleet, with what people and GitHub see of it."""

    github: GitHubServer
    fleet: Fleet
    balancer: Balancer
    repo: Repo

    def deliver(self, event: str, body: bytes, guid: str) -> None:
        """Send a delivery through the balancer, until it is accepted, as GitHub does on request."""

        def accepted() -> bool:
            sent = headers(event, body, guid=guid)
            url = f"{self.balancer.url}/webhooks/github"
            return HTTP.post(url, content=body, headers=sent, timeout=patience(10)).status_code == 202

        wait_for(accepted, 30.0, self.fleet.status)

    def open_issue(self, title: str, body: str = BODY) -> int:
        """Open an issue; a comment follows at once, and both are delivered twice."""
        world = self.github.world
        number: int = world.open_issue(self.repo, title, body)["number"]
        opened = "issues", issue_event(world, self.repo, number, "opened"), f"opened-{number}"
        comment = world.comment(self.repo, number, "It happens here too.", "otto")
        commented = "issue_comment", comment_event(world, self.repo, number, comment), f"commented-{number}"
        for one in (opened, commented, opened, commented):
            self.deliver(*one)
        return number


@contextmanager
def machines(postgres: Postgres, folder: Path) -> Iterator[Machines]:
    with serve_github() as github, balanced() as balancer:
        origin = folder / "origin"
        repo = github.world.repository("octo/feedbox", git=origin, head=make_repository(origin, FILES))
        github.world.signed_in, github.world.may_read["rita"] = "rita", {repo.id}
        settings = {
            "GITHUB_CLIENT_ID": CLIENT_ID,
            "GITHUB_CLIENT_SECRET": CLIENT_SECRET,
            "TRIAGE_SESSION_SECRET": "one for all servers",
            "TRIAGE_PUBLIC_URL": balancer.url,
        }
        balancer.fleet = fleet = Fleet(github, postgres, postgres.migrated(), folder, settings=settings)
        try:
            fleet.start()
            yield Machines(github, fleet, balancer, repo)
        finally:
            fleet.stop()


@contextmanager
def logged_in(given: Machines) -> Iterator[httpx.Client]:
    """Log a person in through the balancer; each of the browser's connections reaches the other server."""
    alone = httpx.Limits(max_keepalive_connections=0)
    with httpx.Client(base_url=given.balancer.url, limits=alone, verify=False) as browser:
        at = browser.get("/login/github", params={"next": "/runs"}).headers["location"]
        assert browser.get(httpx.get(at, verify=False).headers["location"]).status_code == 303
        pages = [browser.get("/runs", headers={"Accept": "text/html"}) for _ in range(2)]
        assert [(page.status_code, "rita" in page.text) for page in pages] == [(200, True)] * 2
        assert Counter(given.balancer.served) == dict.fromkeys((app.url for app in given.fleet.receivers), 2)
        yield browser


@pytest.mark.timeout(600)  # six processes are started
def test_two_servers_and_three_workers_are_one_app_until_their_backup_is_restored(
    postgres: Postgres, tmp_path: Path
) -> None:
    with machines(postgres, tmp_path) as given, logged_in(given) as browser:
        fleet, github, repo = given.fleet, given.github, given.repo
        followed = Followed(browser)
        followed.start()
        wait_for(lambda: followed.answers > 0, 30.0, fleet.status)
        follows = given.balancer.served[-1]
        opened = [given.open_issue(f"{TITLE}, case {number}") for number in range(ISSUES // 2)]
        wait_for(lambda: any(map(fleet.busy, fleet.workers)), 30.0, fleet.status, pause=0.1)
        killed = next(app for app in fleet.receivers if app.url == follows)
        killed.kill()
        next((app for app in fleet.workers if fleet.busy(app)), fleet.workers[0]).kill()
        opened += [given.open_issue(f"{TITLE}, case {number}") for number in range(ISSUES // 2, ISSUES)]
        fleet.calm([(repo, number) for number in opened])
        wait_for(lambda: len(followed.cases) == ISSUES, 30.0, lambda: followed.cases)
        followed.enough.set()
        assert followed.answers > 1
        assert [len(github.world.ours(repo, number)) for number in opened] == [1] * ISSUES
        assert (blind_posts(github), disordered(fleet.url)) == (0, 0)
        question = given.open_issue("It breaks", "")
        wait_for(lambda: "**Q1**" in "".join(github.world.reports(repo, question)), 60.0, fleet.status)
        wait_for(lambda: not fleet.apps[0].unfinished(), 60.0, fleet.status, pause=0.1)
        restored = restore(fleet.url, postgres, tmp_path)
        migrated_by_a_newer_release(fleet.url)
        opened.append(given.open_issue(f"{TITLE}, beside a newer release"))
        fleet.calm([(repo, opened[-1])])
        with pytest.raises(AssertionError, match="written by a newer release"):
            killed.start()
        fleet.stop()
        answered(github, repo, question, tmp_path / "empty", DATABASE_URL=restored)
        assert [len(github.world.ours(repo, number)) for number in opened] == [1] * (ISSUES + 1)


def migrated_by_a_newer_release(url: str) -> None:
    """Add to the tables what a newer release may add, as its `triage migrate` does while older processes run."""
    for statement in (
        "CREATE TABLE newer (id BIGINT PRIMARY KEY)",
        "ALTER TABLE runs ADD COLUMN newer TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE jobs ADD COLUMN newer BIGINT",
        "UPDATE schema_version SET version = version + 1",
    ):
        ask(url, statement)


def documented(command: str) -> str:
    """Return a command of the page on operations, as printed there."""
    (line,) = {line.partition("  #")[0].strip() for line in PAGE.read_text().splitlines() if line.startswith(command)}
    return line


def restore(url: str, postgres: Postgres, folder: Path) -> str:
    """Back a database up while its servers run, and restore it into an empty one; return its address."""
    empty = postgres.create()
    for line, database in ((documented("pg_dump"), url), (documented("pg_restore"), empty)):
        given = {**os.environ, "DATABASE_URL": database}
        done = subprocess.run(["sh", "-ec", line], cwd=folder, env=given, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    return empty


def answered(github: GitHubServer, repo: Repo, number: int, data: Path, **settings: str) -> None:
    """Start a server with restored data, answer the question, and expect the one comment to be edited."""
    before = github.world.ours(repo, number)
    with running(github, data, **settings) as app:
        app.comment(repo, number, ANSWER)
        wait_for(lambda: len(github.world.ours(repo, number)) > len(before), 60.0, lambda: app.log[-5:])
        app.settled(60.0)
        assert app.ask("SELECT count(*), max(status) FROM runs WHERE issue_key LIKE '%#" + f"{number}'") == [
            (1, "finished")
        ]
    (report,) = github.world.reports(repo, number)
    assert "feedbox/dates.py" in report
    assert "- [x] **Q1**" in report
    (reply,) = github.world.ours(repo, number)[len(before) :]
    assert reply.startswith("<!-- triage:answered ")


def test_a_data_directory_is_backed_up_beside_its_server_and_restored(tmp_path: Path) -> None:
    with serve_github() as github, running(github, tmp_path / "server") as app:
        origin = tmp_path / "origin"
        repo = github.world.repository("octo/feedbox", git=origin, head=make_repository(origin, FILES))
        number = app.open_issue(repo, "It breaks", "")
        wait_for(lambda: "**Q1**" in "".join(github.world.reports(repo, number)), 60.0, lambda: app.log[-5:])
        app.settled(60.0)
        words = documented("triage backup").split()[1:]
        done = triage(tmp_path, *words, TRIAGE_DATA_DIR=str(app.data))
        assert (done.returncode, done.stdout) == (0, "tracehound-backup: store.db, checkpoints.db, session-secret\n")
        app.kill()
        subprocess.run(["sh", "-ec", documented("cp -R")], cwd=tmp_path, check=True)
        answered(github, repo, number, tmp_path / "data")
        assert (tmp_path / "tracehound-backup").stat().st_mode & 0o77 == 0
        again = triage(tmp_path, *words, TRIAGE_DATA_DIR=str(app.data))
        assert (again.returncode, "tracehound-backup: File exists" in again.stderr) == (2, True)
        for settings in ({"TRIAGE_DATA_DIR": str(tmp_path)}, {"DATABASE_URL": "postgresql://me@nowhere/x"}):
            assert triage(tmp_path, "backup", "other", **settings).returncode == 2
