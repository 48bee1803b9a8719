"""The weekly digest on GitHub: once a week, of open issues only, where the repository asks for it."""

from __future__ import annotations

import asyncio
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from bot.errors import RetryableError
from bot.jobs import PostDigest
from bot.settings.repository import Day
from bot.store.jobs.deliveries import Arrival
from bot.worker.digests import due_week, queue_digests
from tests.limits.test_admission import Stage, staged
from tests.servers.github_server import LOST_ANSWER, serve_github

SUNDAY = datetime(2026, 1, 4, 23, 30, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("day", "week"),
    [
        pytest.param("sunday", date(2026, 1, 4), id="today"),
        pytest.param("saturday", date(2026, 1, 3), id="a-day-late"),
        pytest.param("friday", None, id="too-late"),
        pytest.param("monday", None, id="tomorrow"),
    ],
)
def test_a_week_begins_on_the_named_day(day: Day, week: date | None) -> None:
    assert due_week(SUNDAY, day) == week


def asked_for(stage: Stage, issue: int) -> str:
    day = datetime.fromtimestamp(stage.worker.store.clock(), UTC).strftime("%A").lower()
    return f"digest: {{issue: {issue}, day: {day}}}\n"


async def post(stage: Stage) -> None:
    """Process the digest that is due."""
    job = await stage.worker.store.jobs.claim("run", "us")
    assert job is not None
    assert job.work.kind == "digest"
    await stage.worker.work(job)


async def test_the_digest_is_posted_once_a_week_and_lists_open_issues(tmp_path: Path) -> None:
    with serve_github() as github:
        async with staged(github, tmp_path) as stage:
            store, world, repo = stage.worker.store, github.world, stage.repo
            digests = world.open_issue(repo, "Weekly digest")["number"]
            repo.issues[digests]["labels"] = [{"name": "triage: skip"}]
            await stage.opened()  # without a request in the file
            assert await queue_digests(store) == 0
            repo.files[".github/triage.yml"] = asked_for(stage, digests)
            hostile = await stage.opened(title="parse_date <!-- --> @rita fixes #1 [x](https://evil.example)")
            closed = await stage.opened()
            repo.issues[closed]["state"] = "closed"  # its delivery is lost
            assert sum(await asyncio.gather(queue_digests(store), queue_digests(store))) == 1
            github.fail("POST", f"issues/{digests}/comments", LOST_ANSWER)
            job = await stage.worker.store.jobs.claim("run", "us")
            assert job is not None
            assert isinstance(job.work, PostDigest)
            with pytest.raises(RetryableError):
                await stage.worker.work(job)
            await stage.worker.work(job)
            assert await queue_digests(store) == 0
            (first,) = world.ours(repo, digests)
            assert first.startswith(f"<!-- triage:digest week={job.work.week} -->")
            assert "2 open bugs have a report, 2 of them since " in first
            assert "[`feedbox/dates.py`]" in first
            assert (f"`#{hostile}`" in first, f"`#{closed}`" in first) == (True, False)
            assert (" @rita" in first, "](https://evil" in first, "<!-- -->" in first) == (False, False, False)
            # A delivery's id is deleted after a week, so the same week may be queued again.
            await store.inbox.accept(Arrival("again", "digest", b"", (job.work,)))
            await post(stage)
            assert world.ours(repo, digests) == [first]
            await store.inbox.accept(
                Arrival("next", "digest", b"", (job.work.model_copy(update={"week": "2099-01-01"}),))
            )
            await post(stage)
            assert len(world.ours(repo, digests)) == 2


async def test_no_digest_is_posted_without_open_issues_or_if_disabled(tmp_path: Path) -> None:
    with serve_github() as github:
        async with staged(github, tmp_path) as stage:
            number = github.world.open_issue(stage.repo, "Weekly digest")["number"]
            text, own, issue = asked_for(stage, number), stage.repo.files, stage.repo.issues[number]
            organisation = github.world.repository("octo/.github")

            async def said(week: str) -> str:
                work = PostDigest(ref=stage.ref(number), week=week)
                await stage.worker.store.inbox.accept(Arrival(week, "digest", b"", (work,)))
                await post(stage)
                assert github.world.ours(stage.repo, number) == []
                statement = f"SELECT said FROM jobs WHERE guid = '{week}'"
                return str((await stage.worker.store._database.read(lambda db: db.execute(statement).fetchone()))[0])

            own[".github/triage.yml"] = text
            assert await said("nothing") == "nothing is open"
            await stage.opened()
            for change in ({"state": "closed"}, {"state": "open", "locked": True}):
                issue |= change
                assert "closed, locked" in await said(str(len(change)))
            issue["locked"] = False
            own[".github/triage.yml"] = f"mode: label\n{text}"
            assert "asks for no digest" in await said("label")
            own[".github/triage.yml"] = asked_for(stage, 7)
            assert "asks for no digest" in await said("another")
            organisation.files[".github/triage.yml"] = own.pop(".github/triage.yml")
            assert "asks for no digest" in await said("organisation")
