"""A viewer without access learns nothing about a repository, not even that it exists."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

import httpx
import pytest
from starlette.routing import BaseRoute, Mount, Route

from bot.ports import IssueRef, RepositoryRef
from bot.server.app import build_pages
from bot.settings.environment import Settings
from tests.servers.github_server import GitHubServer, serve_github
from tests.servers.serving import NobodyWorks
from tests.support.patience import patience
from tests.web.conftest import FROM_HERE, TOKEN, Pages, logins_at
from tests.web.stored import Ran, ran

WORDS = ("secret-plans", "zebra", "lexer", "scan hangs")
OPEN = {"/healthz", "/readyz", "/login", "/api/v1/openapi.json"}
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
THERE_IS_NONE = {"owner": "nobody", "name": "nothing", "issue": "999999", "run": "99", "number": "99", "job": "999999"}


@dataclass
class StoredRepository:
    """Stored data of two repositories."""

    secret: IssueRef
    theirs: IssueRef

    @property
    def there(self) -> dict[str, str]:
        ref = self.secret
        return {"owner": ref.owner, "name": ref.name, "issue": str(ref.number), "run": "1", "number": "1", "job": "1"}


@pytest.fixture
def github() -> Iterator[GitHubServer]:
    with serve_github() as server:
        server.world.signed_in = "rita"
        yield server


@pytest.fixture
def given(github: GitHubServer) -> dict[str, str]:
    return logins_at(github)


@pytest.fixture
async def kept(pages: Pages, github: GitHubServer) -> StoredRepository:
    """Store a run in a repository that nobody may see, and one in rita's."""
    host = urlsplit(github.url).netloc
    secret, theirs = RepositoryRef(host, 7, 91, "zebra", "secret-plans"), RepositoryRef(host, 7, 9, "octo", "parser")
    await pages.store.installations.note(host, 7, "zebra", "active")
    await pages.store.installations.add([secret, theirs])
    github.world.may_read["rita"] = {theirs.id}
    mine = await ran(pages.store, Ran(repository=theirs, title="theirs", gathered=[], report=None, status="failed"))
    return StoredRepository(await ran(pages.store, Ran(repository=secret)), mine)


def templates(routes: Iterable[BaseRoute], prefix: str = "") -> Iterator[str]:
    """Yield the path of every page and endpoint."""
    for route in routes:
        if isinstance(route, Mount):
            yield from templates(route.routes, prefix + route.path)
        elif isinstance(route, Route):
            yield prefix + route.path


def every_path(pages: Pages, given: dict[str, str]) -> list[str]:
    """Return all paths, including one that does not exist."""
    app = build_pages(Settings(**given), pages.store, NobodyWorks())  # type: ignore[arg-type]
    return sorted({*templates(app.routes), "/no/such/page", "/runs/{owner}", "/repositories/{owner}/{name}/no-such"})


def filled(template: str, values: dict[str, str]) -> str:
    """Return a path with its parameters filled in."""
    return re.sub(r"\{(\w+)(?::\w+)?\}", lambda blank: values.get(blank[1], "x"), template)


async def answer(http: httpx.AsyncClient, method: str, path: str, accept: str) -> tuple[int, str]:
    """Return status, headers and the body of the first second, without the requested values."""
    headers = {"Accept": accept} | (FROM_HERE if method not in ("GET", "HEAD") else {})
    content = ""
    async with http.stream(method, path, headers=headers) as response:
        try:
            streams = response.headers.get("content-type", "").startswith("text/event-stream")
            async with asyncio.timeout(1 if streams else patience(20)):
                async for text in response.aiter_text():
                    content += text
        except TimeoutError:
            pass  # a stream does not end
        content += str([value for name, value in response.headers.items() if name not in ("date", "content-length")])
    for address in (path, quote(path, safe="")):
        content = content.replace(address, "")
    return response.status_code, content


@pytest.mark.tried("pages asked for without a login, with another account, or from another site")
async def test_a_stranger_gets_the_same_response_for_existing_and_missing_pages(
    pages: Pages, kept: StoredRepository, given: dict[str, str]
) -> None:
    for template in every_path(pages, given):
        real, none = filled(template, kept.there), filled(template, THERE_IS_NONE)
        for method in METHODS:
            for accept in ("text/html", "application/json", "text/event-stream"):
                status, text = await answer(pages.http, method, real, accept)
                assert not [word for word in WORDS if word in text.lower()], (method, real)
                if template not in OPEN:
                    assert status in (303, 307, 400, 401, 403, 404, 405, 410), (method, real, status)
                if "{" in template:
                    assert (status, text) == await answer(pages.http, method, none, accept), (method, real)


@pytest.mark.tried("pages asked for without a login, with another account, or from another site")
async def test_a_viewer_sees_nothing_of_an_inaccessible_repository(
    pages: Pages, kept: StoredRepository, given: dict[str, str]
) -> None:
    begun = await pages.http.get("/login/github")
    async with httpx.AsyncClient() as browser:
        back = (await browser.get(begun.headers["location"])).headers["location"]
    assert (await pages.http.get(back)).status_code == 303
    seen = ""
    for template in every_path(pages, given):
        if template == "/logout":
            continue
        real, none = filled(template, kept.there), filled(template, THERE_IS_NONE)
        for method in ("GET", "POST"):
            status, text = await answer(pages.http, method, real, "text/html")
            assert not [word for word in WORDS if word in text.lower()], (method, real)
            if "{" in template:
                assert status == (await answer(pages.http, method, none, "text/html"))[0], (method, real)
        seen += text
        seen += (await answer(pages.http, "GET", filled(template, kept.there), "text/html"))[1]
    assert "octo/parser" in seen


async def test_the_operator_sees_it(pages: Pages, kept: StoredRepository, given: dict[str, str]) -> None:
    pages.http.headers["Authorization"] = f"Bearer {TOKEN}"
    shown = {}
    for template in every_path(pages, given):
        shown[template] = (await answer(pages.http, "GET", filled(template, kept.there), "text/html"))[1].lower()
    assert sum(any(word in text for word in WORDS) for text in shown.values()) >= 5, sorted(shown)
