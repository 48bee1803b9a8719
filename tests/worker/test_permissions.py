"""A missing permission is logged, counted, shown, and reported once to maintainers."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.limits.ceilings import describe_limit
from bot.observability.measures import REACHED_LIMITS
from bot.store.runs.usage import RepositoryLimited
from bot.store.tables import Store
from tests.limits.test_admission import staged
from tests.servers.github_server import Fault, GitHubServer, serve_github

REFUSED = Fault(
    status=403,
    headers={"X-Accepted-GitHub-Permissions": "issues=write"},
    message="Resource not accessible by integration",
)


@pytest.fixture
def github() -> Iterator[GitHubServer]:
    with serve_github() as server:
        yield server


def counted(name: str) -> float:
    return REACHED_LIMITS.labels(f"permission.{name}")._value.get()


async def test_labels_that_are_not_allowed_are_reported_in_one_report(
    github: GitHubServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    before = counted("issues")
    async with staged(github, tmp_path) as stage:
        stage.repo.labels.add("bug")
        github.fault = lambda call: REFUSED if call.path.endswith("/labels") and call.method == "POST" else None
        numbers = [await stage.opened(title=f"parse_date ignores the sign of the zone, {n}") for n in range(4)]
        notified = [number for number in numbers if describe_limit("permission.issues") in stage.reported(number)]
        runs = [await stage.worker.store.for_issue(stage.ref(number)).runs.last() for number in numbers]
        met = await stage.worker.store.for_repository(stage.ref(1).repository).limited.today()
    assert [run.status for run in runs if run] == ["finished"] * 4
    assert notified == [2], "the first report after it was known"
    assert met["permission.issues"] == 4
    assert counted("issues") == before + 4
    assert "permission_missing" in {getattr(record, "action", "") for record in caplog.records}


@pytest.mark.parametrize("missing", ["issues", "contents"])
async def test_if_nothing_can_be_written_the_operator_is_informed(
    github: GitHubServer, tmp_path: Path, caplog: pytest.LogCaptureFixture, missing: str
) -> None:
    github.world.granted = {"issues": "write", "contents": "read", "metadata": "read"}
    del github.world.granted[missing]
    before = counted(missing)
    async with staged(github, tmp_path) as stage:
        number = await stage.opened()
        met = await stage.worker.store.for_repository(stage.ref(1).repository).limited.today()
        left = await stage.worker.store.jobs.counts()
    assert (stage.reported(number), left) == ("", {})
    assert met == {f"permission.{missing}": 1}
    assert counted(missing) == before + 1
    records = [record for record in caplog.records if getattr(record, "action", "") == "permission_missing"]
    assert [(record.levelno, missing in record.getMessage()) for record in records] == [(logging.WARNING, True)]


async def test_a_missing_permission_is_reported_once_and_a_limit_once_a_day(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    limited = RepositoryLimited(store._database, "github.com/9")
    days = []
    for day in ("2026-01-01", "2026-01-02"):
        monkeypatch.setattr(limited, "_today", lambda day=day: day)
        for code in ("permission.issues", "repository.tokens"):
            await limited.note(code)
        days.append([await limited.unreported(f"github.com/9#{day[-1]}{n}") for n in range(2)])
    assert days == [[("permission.issues", "repository.tokens"), ()], [("repository.tokens",), ()]]
