"""Calls under one installation: with a narrowed token, page by page, quiet when GitHub asks for it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

import httpx

from bot.errors import RateLimitedError
from bot.github.faults import TokenRefusedError
from bot.github.session import Session
from bot.github.tokens import WRITE_ISSUES, Tokens
from bot.limits import WHOLE, Share, Writes, installation_key
from bot.ports import RepositoryRef

_PAGE, _PAGES = 100, 30


class Channel:
    """What is sent for one repository; every call has the repository's own token unless it names another's."""

    def __init__(self, session: Session, tokens: Tokens, writes: Writes, repository: RepositoryRef) -> None:
        self._session = session
        self._tokens = tokens
        self._writes = writes
        self._installation = installation_key(repository.host, repository.installation_id)
        self._repository = repository

    async def send(
        self,
        method: str,
        path: str,
        *,
        json: Mapping[str, Any] | None = None,
        params: Mapping[str, str | int] | None = None,
        follow: bool = True,
        repositories: tuple[int | str, ...] = (),
        permissions: Mapping[str, str] = WRITE_ISSUES,
    ) -> httpx.Response:
        """Send a call and return its successful answer, or raise one of our errors."""
        await self._writes.check_quiet(self._installation)
        given = {"json": json, "params": params, "follow": follow}
        try:
            answer = await self._authorized(method, path, repositories, permissions, **given)
        except RateLimitedError as error:
            await self._writes.limited(self._installation, error.after, whole=error.whole, write=method != "GET")
            raise
        await self._writes.answered(self._installation, write=method != "GET")
        return answer

    async def take(self, share: Share = WHOLE) -> None:
        """Count a write that is about to be sent, or raise RateLimitedError."""
        await self._writes.take(self._installation, share, self._repository.key)

    async def search(self, path: str, params: Mapping[str, str | int]) -> httpx.Response:
        """Send a search; its own limit is another than that of all other calls, which it does not quieten."""
        return await self._authorized("GET", path, (), WRITE_ISSUES, params=params)

    async def pages(self, path: str, params: Mapping[str, str | int]) -> AsyncIterator[list[Any]]:
        """The pages of a list, a bounded number of them."""
        for number in range(1, _PAGES + 1):
            items, more = await self.page(path, params, number)
            yield items
            if not more:
                return

    async def page(self, path: str, params: Mapping[str, str | int], number: int) -> tuple[list[Any], bool]:
        """One page of a list, from 1, and whether another may follow."""
        answer = await self.send("GET", path, params={**params, "per_page": _PAGE, "page": number})
        items: list[Any] = answer.json()
        # A server may give fewer on a page than it was asked for.
        return items, len(items) >= _PAGE or "next" in answer.links

    async def token(self, repositories: tuple[int | str, ...], permissions: Mapping[str, str]) -> str:
        """A token for these repositories alone; none named means this one."""
        return await self._tokens.get(
            self._repository.installation_id, repositories or (self._repository.id,), permissions
        )

    async def _authorized(
        self, method: str, path: str, repositories: tuple[int | str, ...], permissions: Mapping[str, str], **given: Any
    ) -> httpx.Response:
        """What a revoked token was refused for was not done, so it is safe to send it again with a new one."""
        token = await self.token(repositories, permissions)
        try:
            return await self._session.send(method, path, authorization=f"Bearer {token}", **given)
        except TokenRefusedError:
            self._tokens.forget(token)
        token = await self.token(repositories, permissions)
        return await self._session.send(method, path, authorization=f"Bearer {token}", **given)
