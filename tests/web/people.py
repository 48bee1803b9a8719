"""The pages for different viewers, on either database."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from starlette.requests import Request
from starlette.types import ASGIApp

from bot.server.app import build_app
from bot.server.web.auth.authentication import OPERATOR, Authenticator
from bot.server.web.auth.sessions import Viewer
from bot.settings.environment import Settings
from bot.settings.server import ServerSettings
from bot.store.tables import Store
from tests.servers.serving import NobodyWorks
from tests.web.stored import PARSER, known

PEOPLE: dict[str, Viewer] = {
    "operator": OPERATOR,
    "rita": Viewer("rita", frozenset({PARSER.key})),
    "nobody": Viewer("nobody", frozenset()),
}
FROM_HERE = {"Sec-Fetch-Site": "same-origin"}


@dataclass
class Site:
    """The pages with a store that contains runs."""

    app: ASGIApp
    store: Store
    http: httpx.AsyncClient

    async def get(self, path: str, who: str | None = "operator") -> httpx.Response:
        """Request a page as one of ``PEOPLE``, or without a login."""
        return await self.http.get(path, headers={"X-Who": who} if who else {})

    async def page(self, path: str, who: str = "operator") -> str:
        """Return the text of an existing page."""
        answer = await self.get(path, who)
        assert answer.status_code == 200, (path, answer.status_code, answer.text[:300])
        assert len(answer.content) < 150_000, (path, len(answer.content))
        return answer.text


@asynccontextmanager
async def opened(store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Site]:
    """Serve pages to the person that a header names."""

    async def viewer(_self: Authenticator, request: Request) -> Viewer | None:
        return PEOPLE.get(request.headers.get("x-who", ""))

    monkeypatch.setattr(Authenticator, "viewer", viewer)
    settings = Settings(triage_data_dir=folder)
    await known(store)
    app = build_app(ServerSettings(settings, 1, "", (b"secret",)), store, NobodyWorks())
    accept = {"Accept": "text/html"}
    here = httpx.ASGITransport(app)  # a separate port for each test would take longer than the test
    async with httpx.AsyncClient(transport=here, base_url="http://pages", headers=accept) as http:
        yield Site(app, store, http)
