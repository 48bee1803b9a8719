"""The cost of one issue for docs/capacity.md: processor time, GitHub calls, commits, bytes and model tokens.

python -m benchmarks.load.capacity    some minutes; a server and a worker on a Postgres, then a simulated model
"""

from __future__ import annotations

import argparse
import sqlite3
import tempfile
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

import psycopg

from benchmarks.load.throughput import _cpu, _round, _running
from nodes.brains.fence import estimate
from tests.limits.day import sound
from tests.serve.app import App, running, wait_for
from tests.serve.conftest import BODY, FILES, TITLE
from tests.servers.github_server import GitHubServer, serve_github
from tests.servers.model_server import ModelServer, Reply, Request, serve
from tests.support.repositories import make_repository

_SIZES = "SELECT xact_commit, pg_database_size(datname) FROM pg_stat_database WHERE datname = current_database()"
_TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema() AND tablename !~ '^procrastinate'"
_WAL = "SELECT pg_current_wal_lsn() - '0/0'::pg_lsn"


def main() -> None:
    """Print one line per figure."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--issues", type=int, default=60)
    given = options.parse_args()
    with serve_github() as github, tempfile.TemporaryDirectory() as folder:
        _by_rules(github, Path(folder), given.issues)
    with serve_github() as github, tempfile.TemporaryDirectory() as folder:
        _waiting(github, Path(folder))
    with serve_github() as github, serve() as model, tempfile.TemporaryDirectory() as folder:
        _by_model(github, model, Path(folder))


def _by_rules(github: GitHubServer, folder: Path, issues: int) -> None:
    origin = folder / "origin"
    sha = make_repository(origin, FILES)
    repos = [
        github.world.repository(f"octo/feedbox{k}", installation=100 + k, git=origin, head=sha)
        for k in range(-(-issues // 15))
    ]
    with _running(github, folder, 1) as fleet:
        _round(fleet.apps[0], github, repos, 3 * len(repos))
        time.sleep(61)  # the writes of the warm-up are no longer in this minute
        url = fleet.apps[0].settings["DATABASE_URL"]
        before, calls = _database(url), len(github.calls)
        receiver, worker = (_cpu([pid]) for pid in fleet.pids())
        database = _cpu(fleet.database)
        _round(fleet.apps[0], github, repos, issues)
        time.sleep(2)  # the database updates its counters late
        took = [_cpu([pid]) for pid in fleet.pids()]
        after, more, live = _database(url), _cpu(fleet.database) - database, _live(url)
        requested = Counter(call.method for call in github.calls[calls:])
    _say("processor of the server that takes deliveries", 1_000 * (took[0] - receiver) / issues, "ms")
    _say("processor of the worker, a warm small repository", 1_000 * (took[1] - worker) / issues, "ms")
    _say("processor of Postgres", 1_000 * more / issues, "ms")
    _say("reads of GitHub's API", requested.pop("GET") / issues, "calls")
    _say("writes to GitHub", requested.total() / issues, "calls")
    for name, one, other in zip(("commits", "bytes of tables and indexes", "bytes of WAL"), before, after, strict=True):
        _say(f"Postgres: {name}", (other - one) / issues, "")
    everything = sum(len(repo.issues) for repo in repos)
    for table, size in sorted(live.items(), key=lambda item: -item[1])[:6]:
        _say(f"Postgres: rows of {table}", size / everything, "bytes")
    _say("Postgres: rows of all tables", sum(live.values()) / everything, "bytes")


def _waiting(github: GitHubServer, folder: Path) -> None:
    """Measure what a run that waits for an answer stores in addition."""
    origin = folder / "origin"
    repo = github.world.repository("octo/feedbox", git=origin, head=make_repository(origin, FILES))
    with running(github, folder / "data", fresh=True) as app:
        number = app.open_issue(repo, "It breaks", "")
        wait_for(lambda: "**Q1**" in "".join(github.world.reports(repo, number)), 60.0)
        app.settled()
    with closing(sqlite3.connect(folder / "data" / "checkpoints.db")) as db:
        columns = {"checkpoints": "checkpoint, metadata", "writes": "value, channel"}
        kept = sum(
            len(bytes(value, "utf-8") if isinstance(value, str) else value or b"")
            for table, names in columns.items()
            for row in db.execute(f"SELECT {names} FROM {table}")
            for value in row
        )
    _say("checkpoints of a run while it waits (SQLite)", kept, "bytes")


def _by_model(github: GitHubServer, model: ModelServer, folder: Path, issues: int = 4) -> None:
    origin = folder / "origin"
    repo = github.world.repository("octo/feedbox", git=origin, head=make_repository(origin, FILES))
    answers: list[int] = []

    def reply(request: Request) -> Reply:
        reply = sound(request)
        answers.append(estimate(reply.body["choices"][0]["message"]["content"]))
        return reply

    model.script = reply
    settings = {"TRIAGE_BRAIN": "auto", "OPENAI_BASE_URL": model.url, "TRIAGE_MODEL_CALLS_PER_MINUTE": "6000"}
    with running(github, folder / "data", fresh=True, **settings) as app:
        _some(app, github, issues, repo)
    requested = sum(estimate(str(request["messages"])) for request in model.requests)
    _say("model calls", len(model.requests) / issues, "calls")
    _say("tokens in, estimated", requested / issues, "tokens")
    _say("tokens out, of a model that is brief", sum(answers) / issues, "tokens")


def _some(app: App, github: GitHubServer, issues: int, repo: object) -> None:
    for n in range(issues):
        app.open_issue(repo, f"{TITLE}, case {n}", BODY)  # type: ignore[arg-type]
    wait_for(lambda: len(github.world.comments) >= issues and not app.counts(), 300.0, app.counts)


def _database(url: str) -> tuple[int, int, int]:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SELECT pg_stat_force_next_flush()")
        commits, size = connection.execute(_SIZES).fetchone() or (0, 0)
        (wal,) = connection.execute(_WAL).fetchone() or (0,)
    return commits, size, int(wal)


def _live(url: str) -> dict[str, int]:
    """Return the bytes of the live rows by table."""
    with psycopg.connect(url, autocommit=True) as connection:
        names = [name for (name,) in connection.execute(_TABLES.encode())]
        sizes = (f"SELECT coalesce(sum(pg_column_size(t.*)), 0) FROM {name} AS t".encode() for name in names)
        return {name: int(size) for name, sql in zip(names, sizes, strict=True) for (size,) in connection.execute(sql)}


def _say(what: str, value: float, unit: str) -> None:
    print(f"{what:50} {value:12,.1f} {unit}", flush=True)


if __name__ == "__main__":
    main()
