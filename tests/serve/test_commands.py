"""An operator's commands while the server runs: old issues, saved deliveries and dead jobs."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path

import pytest

from bot.jobs import Triage
from bot.ports import IssueRef
from bot.store.databases.sqlite import SqliteStore
from bot.store.jobs.deliveries import Arrival
from bot.worker.upkeep import catch_up
from tests.cli.process import triage
from tests.serve.app import App, wait_for
from tests.serve.conftest import BODY, TITLE, on_both_databases
from tests.servers.deliveries import SECRET, issue_event
from tests.servers.github_server import GitHubServer, private_key
from tests.servers.github_world import APP_ID, Repo


@pytest.fixture
def settings(app: App) -> dict[str, str]:
    """Return the server's own settings, for a command that uses its data."""
    return {
        "GITHUB_APP_ID": str(APP_ID),
        "GITHUB_PRIVATE_KEY": private_key(),
        "GITHUB_WEBHOOK_SECRET": SECRET,
        "GITHUB_API_URL": app.github.url,
        "GITHUB_SERVER_URL": app.github.url,
        "TRIAGE_DATA_DIR": str(app.data),
        **app.settings,
    }


@on_both_databases
def test_old_issues_are_listed_first_and_triaged_on_request(
    app: App, github: GitHubServer, repo: Repo, settings: dict[str, str], tmp_path: Path
) -> None:
    old = [github.world.open_issue(repo, f"{TITLE} {n}", BODY)["number"] for n in range(3)]
    new = app.open_issue(repo, TITLE, BODY)  # tells the server the repository's name
    wait_for(lambda: len(github.world.reports(repo, new)) == 1, 15.0, lambda: app.log[-5:])
    dry = triage(tmp_path, "backfill", f"OCTO/{repo.name}", "--limit", "3", **settings)
    assert [line.split()[0] for line in dry.stdout.splitlines()] == [f"#{n}" for n in (old[2], old[1])]
    app.settled()
    assert not any(github.world.ours(repo, n) for n in old)
    done = triage(tmp_path, "backfill", repo.full_name, "--limit", "3", "--write", **settings)
    assert done.returncode == 0, done.stderr
    wait_for(lambda: all(github.world.reports(repo, n) for n in old[1:]), 25.0, lambda: app.log[-5:])
    app.settled()
    assert github.world.ours(repo, old[0]) == []


@on_both_databases
def test_backfill_reports_faults(app: App, settings: dict[str, str], tmp_path: Path) -> None:
    unknown = triage(tmp_path, "backfill", "octo/unknown", **settings)
    assert (unknown.returncode, "the App is not installed in octo/unknown" in unknown.stderr) == (2, True)
    when = triage(tmp_path, "backfill", "octo/feedbox", "--since", "yesterday", **settings)
    assert when.returncode == 2


@on_both_databases
def test_replay_prints_the_jobs_of_a_delivery_and_changes_nothing(
    app: App, github: GitHubServer, repo: Repo, settings: dict[str, str], tmp_path: Path
) -> None:
    number = github.world.open_issue(repo, TITLE, BODY)["number"]
    saved = tmp_path / "issues.opened.json"
    saved.write_bytes(issue_event(github.world, repo, number, "opened"))
    done = triage(tmp_path, "replay", str(saved), **settings)
    assert json.loads(done.stdout)["kind"] == "triage"
    app.settled()
    assert github.world.ours(repo, number) == []
    assert triage(tmp_path, "replay", str(saved), "--store", **settings).returncode == 0
    wait_for(lambda: len(github.world.reports(repo, number)) == 1, 20.0, lambda: app.log[-5:])


def test_replay_refuses_a_file_without_a_delivery(tmp_path: Path) -> None:
    (tmp_path / "issues.json").write_text("{")
    done = triage(tmp_path, "replay", "issues.json")
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    (tmp_path / "star.json").write_text("{}")
    done = triage(tmp_path, "replay", "star.json")
    assert done.returncode == 0
    assert done.stderr == "nothing to do for this event 'star'; --event names another one\n"


def test_a_dead_job_is_listed_and_restarted(tmp_path: Path) -> None:
    async def mark_dead() -> None:
        store = SqliteStore(tmp_path / "data" / "store.db")
        work = Triage(ref=IssueRef("github.com", 7, 9, "octo", "parser", 4), why="opened")
        await store.inbox.accept(Arrival("g", "issues", b"{}", (work,)))
        job = await store.jobs.claim("run", "me")
        assert job is not None
        await store.jobs.mark_dead(job, "KeyError: 'a bug'")
        await store.aclose()

    data = {"TRIAGE_DATA_DIR": str(tmp_path / "data")}
    assert "there is no" in triage(tmp_path, "jobs", **data).stderr
    asyncio.run(mark_dead())
    jobs = json.loads(triage(tmp_path, "jobs", "--json", **data).stdout)
    assert (jobs["issue"], jobs["said"]) == ("github.com/9#4", "KeyError: 'a bug'")
    assert triage(tmp_path, "jobs", "--replay", str(jobs["job"]), **data).returncode == 0
    assert triage(tmp_path, "jobs", **data).stdout == ""
    assert triage(tmp_path, "jobs", "--replay", str(jobs["job"]), **data).returncode == 2


async def test_missed_deliveries_are_requested_again(github: GitHubServer, tmp_path: Path) -> None:
    from bot.github.app import GitHub

    store = SqliteStore(tmp_path / "store.db")
    client = GitHub(app_id=str(APP_ID), private_key=private_key(), writes=store.writes, api_url=github.url)
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    github.world.deliveries[:] = [
        {"id": number, "guid": guid, "event": event, "delivered_at": at, "status_code": status}
        for number, guid, event, status in [
            (1, "a", "issues", 502),
            (2, "b", "issues", 202),
            (3, "c", "star", 502),
            (4, "d", "issues", 0),
        ]
    ]
    try:
        work = Triage(ref=IssueRef("github.com", 7, 9, "octo", "parser", 4), why="opened")
        await store.inbox.accept(Arrival("d", "issues", b"{}", (work,)))
        assert await catch_up(store, client) == 1
        assert github.world.redelivered == [1]
    finally:
        github.world.deliveries.clear()
        await client.aclose()
        await store.aclose()
