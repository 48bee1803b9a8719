"""Sends calls under one installation: with a narrowed token, page by page, paused when GitHub asks for it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

from bot.errors import RateLimitedError
from bot.github.answers import NOT_MODIFIED, Answer
from bot.github.faults import TokenRefusedError
from bot.github.response_cache import ResponseCache
from bot.github.session import Session
from bot.github.tokens import WRITE_ISSUES, Tokens
from bot.limits import WHOLE, WriteBudget, Writes, installation_key
from bot.ports import RepositoryRef

_PAGE, _PAGES = 100, 30
"""Items per page, which is GitHub's maximum, and pages per list."""


class Channel:
    """Calls for one repository. Each uses the repository's own token unless other repositories are given."""

    def __init__(
        self, session: Session, tokens: Tokens, writes: Writes, repository: RepositoryRef, remembered: ResponseCache
    ) -> None:
        self._session = session
        self._remembered = remembered
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
    ) -> Answer:
        """Send a call and return its successful response.

        A read sends the ETag of the cached response; GitHub does not count it if that response still holds.

        Raises:
            BotError: Any failure, as one of our types.
        """
        await self._writes.check_paused(self._installation)
        given = {"json": json, "params": params, "follow": follow}
        try:
            answer = await self._remembering(method, path, repositories, permissions, **given)
        except RateLimitedError as error:
            await self._writes.limited(self._installation, error.after, whole=error.whole, write=method != "GET")
            raise
        await self._writes.answered(self._installation, write=method != "GET")
        return answer

    async def take(self, budget: WriteBudget = WHOLE) -> None:
        """Count a write before it is sent.

        Raises:
            RateLimitedError: The budget of writes is used up.
        """
        await self._writes.take(self._installation, budget, self._repository.key)

    async def search(self, path: str, params: Mapping[str, str | int]) -> Answer:
        """Send a search. It has a rate limit of its own, so reaching that does not pause other calls."""
        return await self._authorized("GET", path, (), WRITE_ISSUES, params=params)

    async def pages(self, path: str, params: Mapping[str, str | int]) -> AsyncIterator[list[Any]]:
        """The pages of a list, at most 30."""
        for number in range(1, _PAGES + 1):
            items, more = await self.page(path, params, number)
            yield items
            if not more:
                return

    async def page(self, path: str, params: Mapping[str, str | int], number: int) -> tuple[list[Any], bool]:
        """One page of a list, counted from 1, and whether another may follow."""
        answer = await self.send("GET", path, params={**params, "per_page": _PAGE, "page": number})
        items: list[Any] = list(answer.objects())
        # A server may return fewer items than requested on a page that is not the last.
        return items, len(items) >= _PAGE or answer.has_next

    async def token(self, repositories: tuple[int | str, ...], permissions: Mapping[str, str]) -> str:
        """A token for these repositories only; for this repository if none are given."""
        return await self._tokens.get(
            self._repository.installation_id, repositories or (self._repository.id,), permissions
        )

    def is_absent(self, path: str) -> bool:
        """Whether a path was missing a short while ago."""
        return self._remembered.is_absent((self._installation, path))

    def note_absent(self, path: str) -> None:
        """Cache that a path is missing."""
        self._remembered.note_absent((self._installation, path))

    async def _remembering(
        self, method: str, path: str, repositories: tuple[int | str, ...], permissions: Mapping[str, str], **given: Any
    ) -> Answer:
        if method != "GET":
            return await self._authorized(method, path, repositories, permissions, **given)
        scope = (self._installation, repositories or (self._repository.id,), tuple(sorted(permissions.items())))
        key = (scope, path, tuple(sorted((given["params"] or {}).items())))
        etag = self._remembered.etag(key)
        answer = await self._authorized(method, path, repositories, permissions, etag=etag, **given)
        if answer.status_code == NOT_MODIFIED:
            known = self._remembered.get(key)
            # Another task may have evicted it meanwhile: then send the request without an ETag.
            return known or await self._authorized(method, path, repositories, permissions, **given)
        self._remembered.put(key, answer)
        return answer

    async def _authorized(
        self, method: str, path: str, repositories: tuple[int | str, ...], permissions: Mapping[str, str], **given: Any
    ) -> Answer:
        """Send a call; if the token was rejected, once more with a new one. A rejected call was not executed."""
        token = await self.token(repositories, permissions)
        try:
            return await self._session.send(method, path, authorization=f"Bearer {token}", **given)
        except TokenRefusedError:
            self._tokens.forget(token)
        token = await self.token(repositories, permissions)
        return await self._session.send(method, path, authorization=f"Bearer {token}", **given)
