"""Reads issues without the App: with a person's token, or without one if the repository is public."""

from __future__ import annotations

import base64
from functools import partial
from urllib.parse import quote

from bot.errors import GoneError
from bot.github.responses import expect_shape
from bot.github.session import Session
from bot.github.tokens import READ_CODE, Tokens, find_installation
from bot.github.values import Json, found_issues, issue_of, issue_search
from bot.ports import Issue, RepositoryRef


class IssueReader:
    """One repository's issues, by number; and GitHub's search."""

    def __init__(self, full_name: str, *, api_url: str, token: str = "") -> None:
        """Open a session for ``owner/name`` with the API at an address."""
        owner, _, name = full_name.partition("/")
        self._repository = RepositoryRef("", 0, 0, owner, name)
        self._base = f"/repos/{quote(owner, safe='')}/{quote(name, safe='')}"
        self._session = Session(app_id="", private_key="", api_url=api_url)
        self._token = token
        self._send = partial(self._session.send, "GET", authorization=f"Bearer {token}" if token else "")

    async def search_issues(self, query: str, limit: int) -> list[Json]:
        """Return issues that the token may read, in any repository, best first, as GitHub's JSON.

        Raises:
            BotError: GitHub cannot be reached, or refuses access.
        """
        return found_issues(await self._send("/search/issues", params=issue_search(query, limit)))

    async def issue(self, number: int) -> Issue | None:
        """Return an issue or a pull request; None if there is none with this number.

        Raises:
            BotError: GitHub cannot be reached, or refuses access.
        """
        try:
            response = await self._send(f"{self._base}/issues/{number}")
        except GoneError:
            return None
        with expect_shape("an issue"):
            return issue_of(response.object(), self._repository)

    async def id(self) -> int:
        """Return the repository's id, which does not change when it is renamed.

        Raises:
            GoneError: There is no such repository, or it is private.
            BotError: GitHub cannot be reached, or refuses access.
        """
        response = await self._send(self._base)
        with expect_shape("a repository"):
            return int(response.object()["id"])

    @property
    def git_header(self) -> str:
        """The HTTP header that authorizes git to fetch; empty without a token."""
        # git over HTTPS accepts a token only as a password; GitHub ignores the name before it.
        basic = base64.b64encode(f"x-access-token:{self._token}".encode()).decode()
        return f"Authorization: Basic {basic}" if self._token else ""

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
        found = await find_installation(session, path)
        if found is None:
            raise GoneError(f"the App is not installed in {full_name}")
        return await Tokens(session).get(found.id, (name,), {**READ_CODE, "issues": "read"})
    finally:
        await session.aclose()
