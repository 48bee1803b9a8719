"""The queue: later, waiting, running, parked and dead jobs, and who may replay them."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.jobs import Expire, InstallationChanged, LearnPast
from bot.ports import IssueRef
from bot.store.jobs.deliveries import Arrival
from bot.store.tables import Store
from tests.web.people import FROM_HERE, Site, opened
from tests.web.stored import PARSER, SECRET, job_for

PARSED, HIDDEN = (IssueRef(one.host, 7, one.id, one.owner, one.name, 4) for one in (PARSER, SECRET))


@pytest.fixture
async def site(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Site]:
    async with opened(store, tmp_path, monkeypatch) as site:
        yield site


async def dead(store: Store, ref: IssueRef = PARSED) -> int:
    """Store a dead job; return its id."""
    job = await job_for(store, ref)
    await store.jobs.mark_dead(job, "GitHub says <b>502</b>")
    return job.id


def counts(page: str) -> dict[str, int]:
    return {name: int(number) for name, number in re.findall(r'-title">([\w ]+) <span class="soft">(\d+)<', page)}


async def test_jobs_are_listed_by_state_with_their_reason(site: Site) -> None:
    number = await dead(site.store)
    await dead(site.store, HIDDEN)
    parked = await job_for(site.store, PARSED)
    await site.store.jobs.park(parked, "the installation is suspended")
    await site.store.inbox.accept(
        Arrival("i", "installation", b"", (InstallationChanged(host="github.com", id=7, how="suspend"),))
    )
    await site.store.inbox.accept(Arrival("l", "issues", b"", (LearnPast(ref=PARSER),)))
    await site.store.inbox.accept(Arrival("q", "issues", b"", (Expire(ref=PARSED, question_id="q1"),)))
    page = await site.page("/")
    assert counts(page) == {"Dead jobs": 2, "Waiting jobs": 1, "Later jobs": 2, "Jobs on hold": 1}
    assert f'action="/jobs/{number}/replay"' in page
    for text in (
        "GitHub says &lt;b&gt;502",
        "octo/secret-plans",
        "learn past",
        "installation:7",
        "suspended",
        "expire",
    ):
        assert text in page, text
    theirs = await site.page("/", "rita")
    assert counts(theirs) == {"Dead jobs": 1, "Later jobs": 2, "Jobs on hold": 1}
    for hidden in ("secret", "installation:7", "replay"):
        assert hidden not in theirs, hidden
    assert counts(await site.page("/", "nobody")) == {}


async def test_the_operator_replays_a_dead_job(site: Site) -> None:
    number = await dead(site.store)
    answer = await site.http.post(f"/jobs/{number}/replay", headers={"X-Who": "operator", **FROM_HERE})
    assert (answer.status_code, answer.headers["location"]) == (303, f"/?replayed={number}")
    assert f"Job {number} is queued again" in await site.page(f"/?replayed={number}")
    assert await site.store.jobs.counts() == {"todo": 1}
    again = await site.http.post(f"/jobs/{number}/replay", headers={"X-Who": "operator", **FROM_HERE})
    assert again.status_code == 404


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        pytest.param({"X-Who": "rita", **FROM_HERE}, 404, id="a viewer"),
        pytest.param(FROM_HERE, 303, id="nobody"),
        pytest.param({"X-Who": "operator", "Sec-Fetch-Site": "cross-site"}, 403, id="another site's form"),
        pytest.param({"X-Who": "operator"}, 403, id="no word of whose form"),
    ],
)
async def test_only_the_operator_replays_a_job(site: Site, headers: dict[str, str], status: int) -> None:
    number = await dead(site.store)
    answer = await site.http.post(f"/jobs/{number}/replay", headers=headers)
    assert answer.status_code == status
    assert await site.store.jobs.counts() == {"dead": 1}
    assert (await site.http.get(f"/jobs/{number}/replay", headers={"X-Who": "operator"})).status_code == 405
