"""``triage serve`` in a separate process, with a simulated GitHub that sends deliveries."""

from __future__ import annotations

import atexit
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psycopg

from tests.cli.process import environment
from tests.servers.deliveries import SECRET, comment_event, headers, issue_event
from tests.servers.github_server import GitHubServer, private_key
from tests.servers.github_world import APP_ID, Repo
from tests.support.patience import patience, wait_for
from tests.support.preloaded import FORKER, Forked

SERVE = ("serve", "--host", "127.0.0.1", "--port", "0")
WAIT_BY_NATURE = ("left_over", "expire")
"""Jobs that wait by design: for the hour's write limit, or for the end of a question's two weeks."""
HTTP = httpx.Client(verify=False, limits=httpx.Limits(max_keepalive_connections=0))
"""One client for all servers under test, none of which uses TLS: every further client would load the certificates."""
START = 60.0
"""Seconds for a start on an idle machine."""


@dataclass
class App:
    """The server under test: started, killed and restarted on the same data."""

    github: GitHubServer
    data: Path
    settings: dict[str, str] = field(default_factory=dict)
    words: Sequence[str] = SERVE
    """Its command line; a worker does not listen."""
    descriptors: int = 0
    """Maximum number of file descriptors; 0 for the default."""
    fresh: bool = False
    """Whether it and its worker are new interpreters, as in production, and not forked."""
    process: subprocess.Popen[bytes] | None = None
    url: str = ""
    log: list[dict[str, Any]] = field(default_factory=list)
    up: threading.Event = field(default_factory=threading.Event)
    """Set once it listens or works, and when it ends."""
    _listener: threading.Thread | None = None

    def start(self, *, ready: bool = True) -> None:
        """Start it, and wait until it processes jobs, or only until it listens."""
        self.url = ""
        start = subprocess.Popen if self.fresh or self.descriptors else Forked
        self.process = start(
            self.command(),
            env=environment(**self.variables()),
            cwd=self.data.parent,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
        )
        self.up = up = threading.Event()
        self._listener = threading.Thread(target=self._listen, args=(self.process, up), daemon=True)
        self._listener.start()
        if not ready and self.words[0] == "worker":
            return
        assert up.wait(patience(START)), self.log
        assert self.url or self.words[0] == "worker", self.log
        if ready and self.url:
            wait_for(lambda: HTTP.get(f"{self.url}/readyz", timeout=patience(10)).status_code == 200, START)

    def variables(self) -> dict[str, str]:
        """Return the settings of the App on the simulated GitHub."""
        operator = self.data.with_suffix(".yml")
        operator.parent.mkdir(parents=True, exist_ok=True)
        operator.write_text("limits: {author: {}}\n", encoding="utf-8")  # one person opens all of them
        return {
            "GITHUB_APP_ID": str(APP_ID),
            "GITHUB_PRIVATE_KEY": private_key(),
            "GITHUB_WEBHOOK_SECRET": SECRET,
            "GITHUB_API_URL": self.github.url,
            "GITHUB_SERVER_URL": self.github.url,
            "TRIAGE_DATA_DIR": str(self.data),
            "TRIAGE_BRAIN": "rules",
            "TRIAGE_CONFIG": str(operator),
            **self.settings,
        }

    def command(self) -> list[str]:
        """Return the command that starts it."""
        limited = ("sh", "-c", f'ulimit -n {self.descriptors}; exec "$@"', "sh") if self.descriptors else ()
        return [*limited, sys.executable, "-m", "bot", *self.words]

    def _listen(self, process: subprocess.Popen[bytes], up: threading.Event) -> None:
        assert process.stderr is not None
        with process.stderr as lines:
            for line in lines:
                entry = _read(line)
                self.log.append(entry)
                if entry.get("action") == "listening":
                    self.url = f"http://127.0.0.1:{entry['message'].rpartition(' ')[2]}"
                if entry.get("action") == ("worker_ready" if self.words[0] == "worker" else "listening"):
                    up.set()
        up.set()

    def setup_address(self) -> str:
        """Return the address in the log at which an App is created."""
        lines = [line["message"] for line in self.log if line.get("action") == "setup"]
        found = re.search(r"http://\S+/setup\?token=\S+", lines[0])
        assert found is not None, lines
        return found[0]

    def kill(self) -> None:
        """Kill the processes, as a power failure would."""
        assert self.process is not None
        self.process.kill()
        self._ended()

    def stop(self) -> int:
        """Stop the server as an operator does; return its exit code."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        return self._ended()

    def _ended(self) -> int:
        assert self.process is not None
        assert self._listener is not None
        code = self.process.wait(timeout=patience(20))
        self._listener.join(patience(10))  # its pipe ends with the last child
        return code

    def deliver(self, event: str, body: bytes, guid: str | None = None) -> int:
        """Send a delivery; GitHub does not repeat it."""
        sent = headers(event, body, guid=guid or str(uuid.uuid4()))
        return HTTP.post(f"{self.url}/webhooks/github", content=body, headers=sent, timeout=patience(10)).status_code

    def open_issue(self, repo: Repo, title: str, body: str, **given: Any) -> int:
        """Open an issue and send its delivery."""
        number: int = self.github.world.open_issue(repo, title, body, **given)["number"]
        assert self.deliver("issues", issue_event(self.github.world, repo, number, "opened")) == 202
        return number

    def comment(self, repo: Repo, number: int, body: str, author: str = "rita") -> dict[str, Any]:
        """Write a comment and send its delivery."""
        comment = self.github.world.comment(repo, number, body, author)
        assert self.deliver("issue_comment", comment_event(self.github.world, repo, number, comment)) == 202
        return comment

    def counts(self) -> dict[str, int]:
        """Return the number of unfinished jobs by state."""
        return dict(self.ask("SELECT state, count(*) FROM jobs WHERE state <> 'done' GROUP BY state"))

    def ask(self, statement: str) -> list[tuple[Any, ...]]:
        """Return the store's answer to a statement, on either database."""
        return ask(self.settings.get("DATABASE_URL") or self.data / "store.db", statement)

    def unfinished(self) -> Counter[str]:
        """Return the number of unfinished jobs by kind, except those that wait by design."""
        waiting = self.ask("SELECT work FROM jobs WHERE state <> 'done'")
        return Counter(kind for (work,) in waiting if (kind := json.loads(work)["kind"]) not in WAIT_BY_NATURE)

    def picture(self, lines: int = 40) -> str:
        """Return what a failure shows: the unfinished jobs, the leases, the processes and the end of the log."""
        assert self.process is not None
        tables = {
            "jobs": "SELECT id, issue_key, state, attempt, waited, lost, due - {}, owner, said, work FROM jobs "
            "WHERE state <> 'done' ORDER BY id",
            "leases": "SELECT name, until - {}, fault FROM leases",
            "workers": "SELECT id, extract(epoch FROM last_heartbeat) - {} FROM procrastinate_workers",
        }
        if "DATABASE_URL" not in self.settings:
            del tables["workers"]
        rows = [f"{name}: {row}" for name, text in tables.items() for row in self.ask(text.format(time.time()))]
        alive = [f"process {pid}: {_state_of(pid)}" for pid in processes_of(self.process.pid)]
        return "\n".join(["", *rows, *alive, *map(str, self.log[-lines:])])

    def key(self, repo: Repo, number: int) -> str:
        """Return an issue's key in the store and in the log."""
        return f"{self.github.url.partition('//')[2]}/{repo.id}#{number}"

    def logged(self, kind: str, key: str) -> bool:
        """Return whether a job of this kind is done."""
        return any(line.get("issue") == key and line["message"] == f"{kind} is done" for line in list(self.log))

    def size(self) -> int:
        """Return the bytes of the data directory."""
        return sum(file.stat().st_size for file in self.data.rglob("*") if file.is_file())

    def pass_time(self, seconds: float) -> None:
        """Make everything due that will be due by then."""
        until = time.time() + 5 + seconds
        self.ask(f"UPDATE jobs SET due = due - {seconds} WHERE state = 'todo' AND due <= {until}")

    def settled(self, seconds: float = 40.0) -> None:
        """Wait until no job is due."""
        wait_for(lambda: not self._in_hand(), seconds, lambda: f"{self.counts()} {self.log[-5:]}")

    def _in_hand(self) -> bool:
        soon = time.time() + 0.5
        return bool(self.ask(f"SELECT 1 FROM jobs WHERE state = 'doing' OR (state = 'todo' AND due <= {soon})"))


def ask(store: str | Path, statement: str) -> list[tuple[Any, ...]]:
    """Run a statement on a store's file, or on the database at an address; it is committed."""
    if isinstance(store, Path):
        with closing(sqlite3.connect(store, timeout=patience(20))) as db, db:
            return db.execute(statement).fetchall()
    with _asking:
        if kept := _kept.get(store):
            with suppress(psycopg.OperationalError):  # the server has ended since
                return _rows(kept, statement)
        _close()
        _kept[store] = psycopg.connect(store, autocommit=True)
        return _rows(_kept[store], statement)


_asking = threading.Lock()
_kept: dict[str, psycopg.Connection[Any]] = {}
"""The connection to the last database: a new one takes 6 ms of processor time, and tests ask fifty times a second."""


@atexit.register
def _close() -> None:
    while _kept:
        _kept.popitem()[1].close()


def _rows(connection: psycopg.Connection[Any], statement: str) -> list[tuple[Any, ...]]:
    cursor = connection.execute(statement.encode())
    return cursor.fetchall() if cursor.description else []


def _read(line: bytes) -> dict[str, Any]:
    try:
        lines: dict[str, Any] = json.loads(line)
    except ValueError:
        return {"message": line.decode(errors="replace")}
    return lines


@contextmanager
def running(github: GitHubServer, data: Path, *, fresh: Any = False, **settings: str) -> Iterator[App]:
    """Run a server, and stop it at the end in any case; measurements need a fresh one.

    ``fresh`` is Any because callers also pass their settings as a dictionary.
    """
    app = App(github, data, settings, fresh=fresh)
    try:
        app.start()
        yield app
    finally:
        app.kill()


def _state_of(pid: int) -> str:
    try:
        return " ".join(Path(f"/proc/{pid}/{name}").read_text().strip() for name in ("comm", "wchan"))
    except OSError as error:
        return str(error)


def processes_of(process: int) -> Iterator[int]:
    """Yield the ids of a process and its children, without the one that forks for the tests."""
    with suppress(OSError):
        if Path(f"/proc/{process}/comm").read_text().strip() != FORKER:
            yield process
    try:
        children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    except OSError:
        return
    for child in children:
        yield from processes_of(int(child))


def memory_of(process: int) -> int:
    """
    Return the resident bytes of a process and its children.

    A child that still has its parent's command line was just forked: it shares its pages with the parent
    until it starts its own program, and is not counted.
    """
    commands: dict[str, bytes] = {}
    pages = 0
    for pid in processes_of(process):
        with suppress(OSError, IndexError):
            parent = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1]
            commands[str(pid)] = Path(f"/proc/{pid}/cmdline").read_bytes()
            if commands[str(pid)] != commands.get(parent):
                pages += int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
