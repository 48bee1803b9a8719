"""Each kind of stored work has its function, and the kinds of earlier releases are settled."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from bot.jobs import NoLongerDone, OnIssueWork, load
from bot.store.jobs.deliveries import Arrival
from bot.worker.worker import ON_ISSUE
from tests.limits.test_admission import staged
from tests.servers.github_server import serve_github


def test_every_kind_of_work_on_an_issue_has_its_function() -> None:
    assert set(ON_ISSUE) == set(get_args(OnIssueWork))


REPOSITORY = '{"host": "github.com", "installation_id": 7, "id": 1, "owner": "octo", "name": "app"}'
ISSUE = REPOSITORY.replace('"id"', '"repository_id"').replace("}", ', "number": 3}')


@pytest.mark.parametrize(
    "text",
    [f'{{"kind": "notify", "ref": {REPOSITORY}}}', f'{{"kind": "digest", "ref": {ISSUE}, "week": "2026-01-05"}}'],
    ids=["notice", "digest"],
)
async def test_work_that_an_earlier_release_stored_is_settled(tmp_path: Path, text: str) -> None:
    work = load(text)
    assert isinstance(work, NoLongerDone)
    with serve_github() as github:
        async with staged(github, tmp_path) as stage:
            await stage.worker.store.inbox.accept(Arrival("1", "issues", b"", (work,)))
            job = await stage.worker.store.jobs.claim("run", "us")
            assert job is not None
            await stage.worker.work(job)
            assert await stage.worker.store.jobs.claim("run", "us") is None
