"""A database of the release before this one, with work in progress: this release finishes the work."""

from __future__ import annotations

import gzip
import itertools
import json
import re
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

import psycopg
import pytest

from bot.store.databases.database import STEPS
from bot.store.databases.postgres import connect
from bot.store.databases.postgres_schema import migrate
from tests.serve.app import running
from tests.serve.conftest import FILES
from tests.servers.github_server import GitHubServer, serve_github
from tests.servers.github_world import Repo
from tests.servers.postgres import Postgres
from tests.support.patience import wait_for
from tests.support.repositories import make_repository

KEPT = Path(__file__).parent / "database.json.gz"
ANSWER = "I call `parse_date` from feedbox/dates.py with a zone of -0700 and it gives a wrong number of minutes."
TODAY = """
UPDATE jobs SET due = due + since, stored_at = stored_at + since FROM (
    SELECT extract(epoch FROM now())::float8 - max(stored_at) AS since FROM jobs
) AS age
"""
"""A question that was asked years ago would have expired."""
ADDS = re.compile(
    r"CREATE TABLE (IF NOT EXISTS )?\w+ \(.*"
    r"|CREATE INDEX .*"
    r"|ALTER TABLE \w+ ADD COLUMN \w+ \w+( NOT NULL DEFAULT \S+)?",
    re.DOTALL,
)


def test_migrations_only_add_to_the_schema() -> None:
    """A process of the release before reads and writes the tables while this release's processes start."""
    others = {
        number: statement.split("\n")[0]
        for number, step in enumerate(STEPS)
        for statement in map(str.strip, step.split(";"))
        if statement and not ADDS.fullmatch(statement)
    }
    # They are older than the first release. A later one needs a release whose notes say to stop all processes.
    assert others == {
        3: "DROP TABLE outcomes",
        4: "UPDATE runs SET repository_key = rtrim(rtrim(issue_key, '0123456789'), '#')",
        14: "CREATE UNIQUE INDEX deliveries_digest ON deliveries (digest)",
    }


def world_of(kept: dict[str, Any], github: GitHubServer, folder: Path) -> Repo:
    """Put the saved issues and comments on the simulated GitHub."""
    origin = folder / "origin"
    repo = github.world.repository(**kept["repository"], git=origin, head=make_repository(origin, FILES))
    repo.issues.update({int(number): issue for number, issue in kept["issues"].items()})
    github.world.comments.update({int(number): comment for number, comment in kept["comments"].items()})
    github.world._ids = itertools.count(100_000)
    return repo


def moved(dump: str, old: str, new: str) -> str:
    """Replace GitHub's address, also in compressed values; both have the same length, as some values tell theirs."""
    assert len(old) == len(new)

    def value(found: re.Match[str]) -> str:
        data = bytes.fromhex(found[1])
        try:
            data = zlib.compress(zlib.decompress(data).replace(old.encode(), new.encode()))
        except zlib.error:
            data = data.replace(old.encode(), new.encode())
        return f"'\\x{data.hex()}'"

    statements = "\n".join(line for line in dump.splitlines() if not line.startswith("\\"))
    return re.sub(r"'\\x([0-9a-f]+)'", value, statements.replace(old, new))


@pytest.mark.timeout(300)
def test_work_in_progress_is_finished_after_an_upgrade(postgres: Postgres, tmp_path: Path) -> None:
    kept, url = json.loads(gzip.decompress(KEPT.read_bytes())), postgres.create()
    with serve_github() as github:
        repo = world_of(kept, github, tmp_path)
        waiting, begun, queued = kept["numbers"]
        before = github.world.ours(repo, waiting)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(moved(kept["dump"], kept["host"], github.world.url.partition("//")[2]).encode())
        with connect(url) as connection:
            states = connection.execute(
                "SELECT status FROM runs UNION ALL SELECT state FROM jobs WHERE state <> 'done'"
            )
            assert {state for (state,) in states} == {"waiting", "running", "doing", "todo"}
            assert migrate(connection) > 0
            connection.execute(TODAY)
        with running(github, tmp_path / "data", DATABASE_URL=url) as app:
            app.comment(repo, waiting, ANSWER)
            wait_for(lambda: len(github.world.ours(repo, waiting)) > len(before), 60.0, lambda: app.log[-5:])
            wait_for(lambda: all(github.world.reports(repo, n) for n in (begun, queued)), 60.0, lambda: app.log[-5:])
            app.settled(60.0)
            runs = app.ask("SELECT issue_key FROM runs")
        assert Counter(runs) == {(app.key(repo, number),): 1 for number in kept["numbers"]}
        assert [len(github.world.ours(repo, number)) for number in (waiting, begun, queued)] == [2, 1, 1]
        (report,) = github.world.reports(repo, waiting)
        assert "- [x] **Q1**" in report
