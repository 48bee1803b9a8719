"""GitHub with a given token instead of an App: a workflow's or a person's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bot.errors import BotError
from bot.github.app import GitHub
from bot.github.session import Session
from bot.github.tokens import Tokens
from bot.github.values import FailedDelivery, InstallationSeen, Json, text
from bot.limits.writes import Writes

WORKFLOW = "github-actions[bot]"
"""The login under which a workflow's own token writes."""


class _FixedToken(Tokens):
    """The same token for every request; GitHub refuses what it does not permit."""

    def __init__(self, session: Session, token: str) -> None:
        super().__init__(session)
        self._token = token

    async def get(
        self,
        installation: int,  # noqa: ARG002  of the parent's signature
        repositories: Sequence[int | str],  # noqa: ARG002
        permissions: Mapping[str, str],  # noqa: ARG002
    ) -> str:
        """Return the given token."""
        return self._token


class TokenGitHub(GitHub):
    """Reads and writes as the owner of the token."""

    outlives_store = True

    def __init__(self, token: str, *, writes: Writes, api_url: str, server_url: str) -> None:
        super().__init__(app_id="", private_key="", writes=writes, api_url=api_url, server_url=server_url)
        self._tokens = _FixedToken(self._session, token)
        self._token = token

    async def check_key(self) -> None:
        """Do nothing: there is no key."""

    async def load_identity(self) -> None:
        """Ask GitHub once for the token's owner. GitHub refuses a workflow's token, so its login is `WORKFLOW`."""
        if self._logins:
            return
        try:
            response = (await self._session.send("GET", "/user", authorization=f"Bearer {self._token}")).object()
            self._logins.add(text(response.get("login")) or WORKFLOW)
        except BotError:
            self._logins.add(WORKFLOW)

    def learn_identity(self, comment: Json) -> None:
        """Learn our login as an author from a comment that was just posted."""
        self._logins.add(text((comment.get("user") or {}).get("login")))

    def is_own_comment(self, comment: Json) -> bool:
        """Return whether a comment is ours, judged by its author and never by its text."""
        login = text((comment.get("user") or {}).get("login"))
        return bool(login) and login in self._logins

    async def failed_deliveries(self, since: str) -> list[FailedDelivery]:  # noqa: ARG002  as above
        """Return an empty list: a token has no deliveries."""
        return []

    async def installation(self, number: int) -> InstallationSeen | None:
        """Return an active installation: a token belongs to none, so it cannot be suspended."""
        return InstallationSeen(number, suspended=False, permissions={})
