"""Reads issues of one repository without the App: with a person's token, or without one if the repository is public."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from functools import partial
from urllib.parse import quote

from bot.errors import GoneError
from bot.github.responses import RENDERED, expect_shape, html_of
from bot.github.session import Session
from bot.github.tokens import READ_CODE, Tokens
from bot.github.values import MAX_BODY, Json, found_issues, issue_search, text


@dataclass(frozen=True, slots=True)
class ReadIssue:
    """An issue as it is now."""

    number: int
    title: str
    body: str
    created_at: str
    """GitHub's timestamp, such as ``2024-01-01T00:00:00Z``."""
    is_pull_request: bool
    reopened: bool = False
    """Whether it was closed and a person opened it again."""


class IssueFinder:
    """GitHub's search of issues with a person's token."""

    def __init__(self, *, api_url: str, token: str) -> None:
        """Open a session with the API at an address."""
        self._authorization = f"Bearer {token}"
        self._session = Session(app_id="", private_key="", api_url=api_url)

    async def search_issues(self, query: str, limit: int) -> list[Json]:
        """Return issues that the token may read, in any repository, best first, as GitHub's JSON.

        Raises:
            BotError: GitHub cannot be reached, or refuses access.
        """
        params = issue_search(query, limit)
        return found_issues(
            await self._session.send("GET", "/search/issues", authorization=self._authorization, params=params)
        )

    async def aclose(self) -> None:
        """Close the connections."""
        await self._session.aclose()


class IssueReader:
    """One repository's issues, by number."""

    def __init__(self, full_name: str, *, api_url: str, token: str = "") -> None:
        """Open a session for ``owner/name`` with the API at an address."""
        owner, _, name = full_name.partition("/")
        self._base = f"/repos/{quote(owner, safe='')}/{quote(name, safe='')}"
        self._authorization = f"Bearer {token}" if token else ""
        self._session = Session(app_id="", private_key="", api_url=api_url)

    async def issue(self, number: int) -> ReadIssue | None:
        """Return an issue or a pull request; None if there is none with this number.

        Raises:
            BotError: GitHub cannot be reached, or refuses access.
        """
        try:
            path = f"{self._base}/issues/{number}"
            response = await self._session.send("GET", path, authorization=self._authorization)
        except GoneError:
            return None
        item = response.object()
        with expect_shape("an issue"):
            # Without a number it is not an issue, whatever else the object contains.
            int(item["number"])
        return ReadIssue(
            number=number,
            title=text(item.get("title"))[:1_024],
            body=text(item.get("body"))[:MAX_BODY],
            created_at=text(item.get("created_at")),
            is_pull_request=bool(item.get("pull_request")),
            reopened=item.get("state_reason") == "reopened",
        )

    async def rendered(self, number: int) -> str:
        """Return an issue and its first hundred comments as HTML.

        Raises:
            BotError: GitHub cannot be reached, or refuses access.
        """
        path = f"{self._base}/issues/{number}"
        send = partial(self._session.send, "GET", authorization=self._authorization, accept=RENDERED)
        return html_of(await send(path), await send(f"{path}/comments", params={"per_page": 100}))

    async def check(self) -> None:
        """Check that the repository can be read.

        Raises:
            GoneError: There is no such repository, or it is private.
            BotError: GitHub cannot be reached, or refuses access.
        """
        await self._session.send("GET", self._base, authorization=self._authorization)

    async def id(self) -> int:
        """Return the repository's id, which does not change when it is renamed."""
        response = (await self._session.send("GET", self._base, authorization=self._authorization)).object()
        with expect_shape("a repository"):
            return int(response["id"])

    @property
    def git_header(self) -> str:
        """The HTTP header that authorizes git to fetch; empty without a token."""
        token = self._authorization.removeprefix("Bearer ")
        # git over HTTPS accepts a token only as a password; GitHub ignores the name before it.
        basic = base64.b64encode(f"x-access-token:{token}".encode()).decode()
        return f"Authorization: Basic {basic}" if token else ""

    async def aclose(self) -> None:
        """Close the connections."""
        await self._session.aclose()


async def installation_token(full_name: str, *, app_id: str, private_key: str, api_url: str) -> str:
    """Return a token of the App for one repository that it is installed in, to read code and issues.

    Raises:
        GoneError: The App is not installed there.
        BotError: GitHub cannot be reached, or refuses access.
    """
    session = Session(app_id=app_id, private_key=private_key, api_url=api_url)
    owner, _, name = full_name.partition("/")
    path = f"/repos/{quote(owner, safe='')}/{quote(name, safe='')}/installation"
    try:
        found = await session.send("GET", path, authorization=await session.app_authorization())
        with expect_shape("an installation"):
            installation = int(found.object()["id"])
        return await Tokens(session).get(installation, (name,), {**READ_CODE, "issues": "read"})
    finally:
        await session.aclose()
