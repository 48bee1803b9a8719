"""The buttons of a run's page: who is offered them, what they store, and what the page says afterwards."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from bot.jobs import PageCommand
from bot.ports import IssueRef
from bot.server.web.auth.sessions import Viewer
from bot.store.tables import Store
from tests.web.people import FROM_HERE, PEOPLE, Site, opened
from tests.web.stored import PARSER, Ran, ran

MONA = Viewer("mona", frozenset({PARSER.key}), frozenset({PARSER.key}), 5)


@pytest.fixture
async def site(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Site]:
    monkeypatch.setitem(PEOPLE, "mona", MONA)
    monkeypatch.setitem(PEOPLE, "olaf", Viewer("olaf", frozenset({PARSER.key}), id=6))
    async with opened(store, tmp_path, monkeypatch) as site:
        yield site


async def press(site: Site, ref: IssueRef, name: str, who: str | None, why: str = "", run: int = 1) -> httpx.Response:
    return await site.http.post(
        f"/runs/octo/parser/{ref.number}/{run}/command",
        data={"name": name, "why": why},
        headers={**FROM_HERE, **({"X-Who": who} if who else {})},
    )


async def stored(site: Site) -> PageCommand:
    job = await site.store.jobs.claim("control", "me")
    assert job is not None
    assert isinstance(job.work, PageCommand)
    await site.store.jobs.settle(job)
    return job.work


@pytest.mark.parametrize(
    ("who", "names"),
    [
        ("operator", ["right", "triage", "wrong"]),
        ("mona", ["right", "triage", "wrong"]),
        ("rita", ["triage"]),  # she opened the issue
        ("olaf", []),
    ],
)
async def test_viewers_are_offered_only_permitted_commands(site: Site, who: str, names: list[str]) -> None:
    ref = await ran(site.store, Ran())
    page = await site.page(f"/runs/octo/parser/{ref.number}/1", who)
    assert re.findall(r'name="name" value="(\w+)"', page) == names
    for name in ("right", "wrong", "triage"):
        answer = await press(site, ref, name, who, "it is the reader")
        assert answer.status_code == (303 if name in names else 403), name


async def test_a_run_without_a_current_report_cannot_be_judged(site: Site) -> None:
    failed = await ran(site.store, Ran(status="failed", trace=()))
    page = await site.page(f"/runs/octo/parser/{failed.number}/1")
    assert re.findall(r'name="name" value="(\w+)"', page) == ["triage"]
    ref = await ran(site.store, Ran())
    await ran(site.store, Ran(number=ref.number))
    assert 'name="name"' not in await site.page(f"/runs/octo/parser/{ref.number}/1")


async def test_a_command_is_stored_with_its_author(site: Site) -> None:
    ref = await ran(site.store, Ran())
    await press(site, ref, "wrong", "mona", "  it is\r\nthe reader ")
    assert (work := await stored(site)).ref.key == ref.key
    assert (work.name, work.argument, work.by, work.by_id, work.is_operator) == (
        "wrong",
        "it is the reader",
        "mona",
        5,
        False,
    )
    await press(site, ref, "right", "operator", "not used")
    work = await stored(site)
    assert (work.name, work.argument, work.by_id, work.is_operator) == ("right", "", None, True)


async def test_the_page_shows_the_result_of_a_command(site: Site) -> None:
    ref = await ran(site.store, Ran())
    there = (await press(site, ref, "right", "mona")).headers["location"]
    assert "Your request is stored" in await site.page(there, "mona")
    again = (await press(site, ref, "right", "mona")).headers["location"]
    assert "The same request waits already." in await site.page(again, "mona")
    job = await site.store.jobs.claim("control", "me")
    assert job is not None
    await site.store.jobs.settle(job, "done")
    assert "Your request was accepted." in await site.page(there, "mona")
    there = (await press(site, ref, "triage", "mona")).headers["location"]
    job = await site.store.jobs.claim("control", "me")
    assert job is not None
    await site.store.jobs.settle(job, "This issue is closed. Reopen it first.")
    assert "Not done: This issue is closed. Reopen it first." in await site.page(there, "mona")
    other = await ran(site.store, Ran())
    asked = parse_qs(urlsplit(there).query)["request"][0]
    assert "This issue is closed" not in await site.page(f"/runs/octo/parser/{other.number}/1?request={asked}", "mona")


async def test_wrong_needs_a_reason(site: Site) -> None:
    ref = await ran(site.store, Ran())
    answer = await press(site, ref, "wrong", "mona", " \n")
    assert "Nothing was sent: say what is wrong." in await site.page(answer.headers["location"], "mona")
    assert await site.store.jobs.claim("control", "me") is None


@pytest.mark.tried("pages asked for without a login, with another account, or from another site")
@pytest.mark.parametrize("headers", [{}, {"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://evil.example"}], ids=str)
async def test_forms_of_other_sites_store_nothing(site: Site, headers: dict[str, str]) -> None:
    ref = await ran(site.store, Ran())
    path = f"/runs/octo/parser/{ref.number}/1/command"
    answer = await site.http.post(path, data={"name": "triage"}, headers={"X-Who": "mona", **headers})
    assert answer.status_code == 403
    assert await site.store.jobs.claim("control", "me") is None


@pytest.mark.parametrize(
    ("form", "who", "status"),
    [
        ({"name": "stop"}, "mona", 400),
        ({}, "mona", 400),
        ({"name": "triage"}, "nobody", 404),
        ({"name": "triage"}, None, 303),  # to the login
    ],
    ids=["other-command", "empty", "invisible", "no-login"],
)
async def test_an_unavailable_command_is_refused(
    site: Site, form: dict[str, str], who: str | None, status: int
) -> None:
    ref = await ran(site.store, Ran())
    path = f"/runs/octo/parser/{ref.number}/1/command"
    answer = await site.http.post(path, data=form, headers={**FROM_HERE, **({"X-Who": who} if who else {})})
    assert answer.status_code == status
    assert await site.store.jobs.claim("control", "me") is None
