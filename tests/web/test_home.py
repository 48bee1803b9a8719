"""The first page: what waits for a person, with the numbers of the other pages, for each viewer."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.store.runs.issue_runs import Settlement
from bot.store.runs.outcomes import Verdict
from bot.store.tables import Store
from tests.web.people import Site, opened
from tests.web.stored import PARSER, SECRET, Ran, ask, job_for, ran, scored
from tests.web.test_repositories import words
from tests.web.test_runs import titles


@pytest.fixture
async def site(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Site]:
    async with opened(store, tmp_path, monkeypatch) as site:
        yield site


def figures(page: str) -> dict[str, int]:
    return {name: int(number) for name, number in re.findall(r"<dt>([\w ]+)</dt><dd>(?:<a [^>]*>)?(\d+)", page)}


async def test_nothing_waits_at_first(site: Site) -> None:
    page = await site.page("/")
    assert set(figures(page).values()) == {0}
    assert "Nothing waits for a person." in page


async def test_it_shows_what_waits_with_its_reason(site: Site) -> None:
    asked = await ran(site.store, Ran(title="It fails", status="waiting"))
    await ask(site.store, asked)
    secret = await ran(site.store, Ran(title="Launch", repository=SECRET, status="waiting"))
    await ask(site.store, secret)
    stopped = await ran(site.store, Ran(title="Enough", status="stopped"))
    await site.store.for_issue(stopped).runs.settle(
        1, Settlement("stopped"), await job_for(site.store, stopped), "a person stopped triage"
    )
    later = await job_for(site.store, stopped)
    await site.store.jobs.settle(later, "a later job of the issue")
    again = await ran(site.store, Ran(title="Replaced", status="failed"))
    await ran(site.store, Ran(title="Replaced", number=again.number))  # awaits its fix
    await site.store.jobs.mark_dead(await job_for(site.store, again), "GitHub says <b>502</b>")
    await site.store.for_repository(PARSER).limited.note("permission.issues")
    await site.store.for_repository(SECRET).limited.note("permission.contents")
    page, theirs = await site.page("/"), await site.page("/", "rita")
    expected = {"Questions": 1, "Stopped or failed": 1, "Missing permissions": 1, "Dead jobs": 1, "Awaiting a fix": 1}
    assert figures(theirs) == expected
    assert figures(page) == {**expected, "Questions": 2, "Missing permissions": 2}
    for said in (
        "Which version does it happen with?",
        "stopped a person stopped triage",
        "GitHub says",
        "permission Issues (write)",
    ):
        assert said in words(theirs), said
    runs = words(theirs).partition("How often")[0].replace("Stopped or failed", "")
    assert "failed" not in runs  # a later run replaced it
    for hidden in ("Launch", "secret-plans", "Contents", "<b>"):
        assert hidden not in theirs, hidden
    assert set(figures(await site.page("/", "nobody")).values()) == {0}


async def test_the_same_number_waits_for_a_fix_on_every_page(site: Site) -> None:
    await scored(site.store, months=2, each=4)
    waiting = [await ran(site.store, Ran(title=f"Claimed {n}")) for n in range(3)]
    await site.store.for_issue(waiting[0]).outcome.keep(Verdict("unknown", why="no commit says so"))
    home = await site.page("/")
    assert figures(home)["Awaiting a fix"] == 2
    assert len(titles(await site.page("/runs?outcome=awaiting"))) == 2
    assert "2 reports await their fix" in words(await site.page("/repositories/octo/parser"))
    assert re.search(r"2026-02 4 \d \d+% ", words(home))
