"""GitHub with one token that somebody gave us, instead of an App's: a workflow's, or a person's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bot.errors import BotError
from bot.github.app import GitHub
from bot.github.session import Session
from bot.github.tokens import Tokens
from bot.github.values import Json, text
from bot.limits import Writes
from bot.ports import FailedDelivery, InstallationSeen

WORKFLOW = "github-actions[bot]"
"""As whom a workflow's own token writes."""


class _Given(Tokens):
    """The same token for everything: what it may not do GitHub refuses."""

    def __init__(self, session: Session, token: str) -> None:
        super().__init__(session)
        self._token = token

    async def get(
        self,
        installation: int,  # noqa: ARG002  of the parent's signature
        repositories: Sequence[int | str],  # noqa: ARG002
        permissions: Mapping[str, str],  # noqa: ARG002
    ) -> str:
        """The token."""
        return self._token


class TokenGitHub(GitHub):
    """Reads and writes as whoever the token is of."""

    def __init__(self, token: str, *, writes: Writes, api_url: str, server_url: str) -> None:
        super().__init__(app_id="", private_key="", writes=writes, api_url=api_url, server_url=server_url)
        self._tokens = _Given(self._session, token)
        self._token = token

    async def check_key(self) -> None:
        """There is none to check."""

    async def knows_itself(self) -> None:
        """Ask whose token it is, once; a workflow's is not told."""
        if self._logins:
            return
        try:
            said = (await self._session.send("GET", "/user", authorization=f"Bearer {self._token}")).object()
            self._logins.add(text(said.get("login")) or WORKFLOW)
        except BotError:
            self._logins.add(WORKFLOW)

    def is_us(self, comment: Json) -> None:
        """Learn from a comment that we have just made how we are called as an author."""
        self._logins.add(text((comment.get("user") or {}).get("login")))

    def wrote(self, comment: Json) -> bool:
        """Is a comment ours, by its author and not by what it says?"""
        login = text((comment.get("user") or {}).get("login"))
        return bool(login) and login in self._logins

    async def failed_deliveries(self, since: str) -> list[FailedDelivery]:  # noqa: ARG002  as above
        """None: nothing is delivered to us."""
        return []

    async def installation(self, number: int) -> InstallationSeen | None:
        """A token is no installation; nothing of it is suspended."""
        return InstallationSeen(number, suspended=False, permissions={})
