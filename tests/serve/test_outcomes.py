"""When the fix of a triaged issue lands, the report is compared with it and the result is shown."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.ports import IssueRef
from bot.settings.environment import Settings
from bot.store.databases.sqlite import open_store
from bot.store.runs.outcomes import LOOKS, Outcome
from bot.store.tables import Store
from bot.worker.upkeep import queue_fix_searches
from tests.cli.process import triage
from tests.serve.app import App, running, wait_for
from tests.serve.conftest import BODY, FILES, TITLE
from tests.servers.deliveries import issue_event
from tests.servers.github_server import GitHubServer
from tests.servers.github_world import INSTALLATION, Repo
from tests.support.repositories import make_repository


@pytest.fixture
def own(github: GitHubServer, tmp_path: Path) -> Repo:
    """Return a repository that the test may change."""
    sha = make_repository(tmp_path / "origin", FILES)
    return github.world.repository(f"octo/clockwork-{os.urandom(3).hex()}", git=tmp_path / "origin", head=sha)


@pytest.fixture(params=["sqlite", "postgres"])
def app(request: pytest.FixtureRequest, github: GitHubServer, tmp_path: Path) -> Iterator[App]:
    shared = {"DATABASE_URL": request.getfixturevalue("postgres").migrated()} if request.param == "postgres" else {}
    with running(github, tmp_path / "data", **shared) as app:
        yield app


def store_of(app: App) -> Store:
    """Return the store of the server under test."""
    return open_store(Settings(triage_data_dir=app.data, database_url=app.settings.get("DATABASE_URL")))


def close(app: App, github: GitHubServer, repo: Repo, number: int) -> None:
    """Close an issue and send the delivery."""
    repo.issues[number]["state"] = "closed"
    assert app.deliver("issues", issue_event(github.world, repo, number, "closed")) == 202


def land(repo: Repo, message: str) -> None:
    """Push a commit that fixes the dates to the default branch."""
    assert repo.git is not None
    mended = {**FILES, "feedbox/dates.py": FILES["feedbox/dates.py"].replace("hours * 60", "sign * hours * 60")}
    repo.head = make_repository(repo.git, mended, message=message)


def outcome(app: App, repo: Repo, number: int) -> Outcome | None:
    """Return the stored outcome."""

    async def ask() -> Outcome | None:
        store = store_of(app)
        try:
            ref = IssueRef(app.key(repo, number).partition("/")[0], INSTALLATION, repo.id, "octo", repo.name, number)
            return await store.for_issue(ref).outcome.get()
        finally:
            await store.aclose()

    return asyncio.run(ask())


def upkeep(app: App) -> int:
    """Run a maintenance round as of a month later."""

    async def look() -> int:
        store = store_of(app)
        store.outcomes._clock = lambda: 4e9  # type: ignore[method-assign]
        try:
            return await queue_fix_searches(store)
        finally:
            await store.aclose()

    return asyncio.run(look())


def test_a_report_is_scored_when_its_fix_lands_now_or_later(
    app: App, github: GitHubServer, own: Repo, tmp_path: Path
) -> None:
    assert len(LOOKS) > 1
    first = app.open_issue(own, TITLE, BODY)
    second = app.open_issue(own, TITLE, BODY)
    wait_for(lambda: all(github.world.reports(own, n) for n in (first, second)), 30.0, lambda: app.log[-5:])
    app.settled()
    close(app, github, own, second)
    wait_for(lambda: app.logged("score", app.key(own, second)), 20.0, lambda: app.log[-5:])
    unknown = outcome(app, own, second)
    assert unknown is not None
    assert (unknown.state, unknown.looks) == ("unknown", 1)
    land(own, f"Read the sign of the zone\n\nFixes #{first}, fixes #{second}")
    close(app, github, own, first)
    wait_for(lambda: app.logged("score", app.key(own, first)), 20.0, lambda: app.log[-5:])
    scored = outcome(app, own, first)
    assert scored is not None
    assert scored.verdict is not None
    assert (scored.state, scored.verdict.rank, scored.verdict.fix) == ("scored", 1, own.head)
    assert upkeep(app) == 1
    wait_for(lambda: (outcome(app, own, second) or unknown).state == "scored", 20.0, lambda: app.log[-5:])
    settings = {"TRIAGE_DATA_DIR": str(app.data), **app.settings}
    table = triage(tmp_path, "stats", **settings)
    assert own.full_name in table.stdout
    assert "shipped calibration" in table.stdout
    (document,) = json.loads(triage(tmp_path, "stats", own.full_name.upper(), "--json", **settings).stdout)
    assert {name: document[name] for name in ("reports", "scored", "first", "unknown")} == {
        "reports": 2,
        "scored": 2,
        "first": 2,
        "unknown": 0,
    }
    assert sum(fifth["cases"] for fifth in document["calibration"]) == 2


def test_stats_needs_a_servers_data(tmp_path: Path) -> None:
    done = triage(tmp_path, "stats", TRIAGE_DATA_DIR=str(tmp_path / "none"))
    assert (done.returncode, "TRIAGE_DATA_DIR" in done.stderr) == (2, True)
