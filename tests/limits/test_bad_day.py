"""A day with a model that refuses every other call, and a GitHub at its secondary limit."""

from __future__ import annotations

import asyncio
from collections import Counter
from functools import partial
from pathlib import Path

import pytest

from bot.jobs import Triage
from bot.limits.ceilings import Scope, day_of
from bot.ports import IssueRef
from bot.settings.environment import Settings
from bot.settings.server import ServerSettings
from bot.store.databases.sqlite_file import SqliteDatabase
from bot.store.jobs.deliveries import Arrival
from bot.store.runs.usage import read_spent
from bot.worker.worker import open_worker
from tests.limits.day import BusyModel, Day, StrictGitHub
from tests.serve.conftest import BODY, FILES, TITLE
from tests.servers.github_server import private_key, serve_github
from tests.servers.github_world import APP_ID, INSTALLATION
from tests.servers.model_server import serve
from tests.support.patience import patience
from tests.support.repositories import make_repository

ISSUES, CALLS, WRITES_AN_HOUR = 6, 40, 4


@pytest.mark.timeout(600)
async def test_no_job_is_lost_the_budget_holds_and_no_wait_is_busy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", logger="bot.worker")
    day, model, attempts = Day(), BusyModel(), Counter[int]()
    monkeypatch.setattr(SqliteDatabase, "clock", lambda _self: day.now())
    with serve_github() as github, serve() as models:
        models.script, strict = model, StrictGitHub(day, WRITES_AN_HOUR)
        github.fault = strict
        origin = tmp_path / "origin"
        repo = github.world.repository("octo/feedbox", git=origin, head=make_repository(origin, FILES))
        host = github.url.partition("//")[2]
        async with open_worker(_settings(github.url, models.url, tmp_path / "data")) as worker:
            for n in range(ISSUES):
                number = github.world.open_issue(repo, f"{TITLE}, case {n}", BODY)["number"]
                ref = IssueRef(host, INSTALLATION, repo.id, "octo", "feedbox", number, f"{github.url}/octo/feedbox.git")
                await worker.store.inbox.accept(Arrival(f"d{n}", "issues", b"{}", (Triage(ref=ref, why="opened"),)))
            await asyncio.wait_for(day.live(worker, attempts, asyncio.Event()), patience(200))
            scope = Scope("repository", f"{host}/{repo.id}", day_of(day.now()))
            spent = await worker.store._database.read(partial(read_spent, scope=scope))
            left = await worker.store.jobs.counts()
        reports = [github.world.reports(repo, number) for number in range(1, ISSUES + 1)]
        calls = Counter(call.method for call in github.calls)
    hours = day.passed / 3_600
    assert [len(found) for found in reports] == [1] * ISSUES
    assert not left
    assert model.asked == spent.calls == CALLS
    assert sum("limits reached here today" in "".join(found) for found in reports) == 1
    # No busy waiting: after a few refusals of GitHub, a quarter of an hour between two attempts.
    assert 2 < hours < 23
    assert strict.refused <= 10 * hours
    assert max(attempts.values()) <= 12 * hours
    # An attempt while writes are paused reads the issue and the configuration, and prepares no comment.
    assert calls["GET"] <= 6 * attempts.total()


def _settings(github: str, model: str, data: Path) -> ServerSettings:
    settings = Settings(
        github_api_url=github,
        github_server_url=github,
        openai_base_url=model,
        triage_data_dir=data,
        triage_limits_author="none",
        triage_limits_repository=f"calls={CALLS}",
        triage_model_calls_per_minute=6_000,
    )
    return ServerSettings(settings, APP_ID, private_key(), (b"secret",))
