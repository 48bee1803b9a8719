"""Reads issues of one repository without the App: with a token of a person, or none for a public one."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from urllib.parse import quote

from bot.errors import GoneError
from bot.github.answers import shaped
from bot.github.search import found_issues, issue_search
from bot.github.session import Session
from bot.github.tokens import READ_CODE, Tokens
from bot.github.values import MAX_BODY, Json, text


@dataclass(frozen=True, slots=True)
class ReadIssue:
    """An issue as it is now."""

    number: int
    title: str
    body: str
    created_at: str
    """As GitHub writes it, such as ``2024-01-01T00:00:00Z``."""
    is_pull_request: bool


class IssueFinder:
    """GitHub's search of issues, with a person's token."""

    def __init__(self, *, api_url: str, token: str) -> None:
        """Search at an API's address."""
        self._authorization = f"Bearer {token}"
        self._session = Session(app_id="", private_key="", api_url=api_url)

    async def search_issues(self, query: str, limit: int) -> list[Json]:
        """Issues anywhere that the token may see, best first, as GitHub describes them.

        Raises:
            BotError: GitHub cannot be reached, or does not let us.
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
        """Read ``owner/name`` at an API's address."""
        owner, _, name = full_name.partition("/")
        self._base = f"/repos/{quote(owner, safe='')}/{quote(name, safe='')}"
        self._authorization = f"Bearer {token}" if token else ""
        self._session = Session(app_id="", private_key="", api_url=api_url)

    async def issue(self, number: int) -> ReadIssue | None:
        """An issue or a pull request; None where there is none such.

        Raises:
            BotError: GitHub cannot be reached, or does not let us.
        """
        try:
            answer = await self._session.send("GET", f"{self._base}/issues/{number}", authorization=self._authorization)
        except GoneError:
            return None
        said = answer.object()
        with shaped("an issue"):
            int(said["number"])
        return ReadIssue(
            number=number,
            title=text(said.get("title"))[:1_024],
            body=text(said.get("body"))[:MAX_BODY],
            created_at=text(said.get("created_at")),
            is_pull_request=bool(said.get("pull_request")),
        )

    async def check(self) -> None:
        """Return if the repository can be read.

        Raises:
            GoneError: there is none, or it is private.
            BotError: GitHub cannot be reached, or does not let us.
        """
        await self._session.send("GET", self._base, authorization=self._authorization)

    async def id(self) -> int:
        """The repository's, which stays when it is renamed."""
        said = (await self._session.send("GET", self._base, authorization=self._authorization)).object()
        with shaped("a repository"):
            return int(said["id"])

    @property
    def git_header(self) -> str:
        """The HTTP header that lets git fetch; empty where everybody may."""
        token = self._authorization.removeprefix("Bearer ")
        basic = base64.b64encode(f"x-access-token:{token}".encode()).decode()
        return f"Authorization: Basic {basic}" if token else ""

    async def aclose(self) -> None:
        """Close the connections."""
        await self._session.aclose()


async def installation_token(full_name: str, *, app_id: str, private_key: str, api_url: str) -> str:
    """A token of the App's for one repository that it is installed in, to read code and issues with.

    Raises:
        GoneError: it is not installed there.
        BotError: GitHub cannot be reached, or does not let us.
    """
    session = Session(app_id=app_id, private_key=private_key, api_url=api_url)
    owner, _, name = full_name.partition("/")
    path = f"/repos/{quote(owner, safe='')}/{quote(name, safe='')}/installation"
    try:
        found = await session.send("GET", path, authorization=await session.app_authorization())
        with shaped("an installation"):
            installation = int(found.object()["id"])
        return await Tokens(session).get(installation, (name,), {**READ_CODE, "issues": "read"})
    finally:
        await session.aclose()
