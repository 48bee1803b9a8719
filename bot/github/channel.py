"""Send calls for one installation: with a narrowed token, pagination, ETags, and the pauses that GitHub asks for."""

import json
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from bot.errors import MissingPermissionError, RateLimitedError
from bot.github.responses import NOT_MODIFIED, GitHubResponse, TokenRefusedError
from bot.github.session import Session
from bot.github.tokens import WRITE_ISSUES, Tokens
from bot.limits.writes import WHOLE, WriteBudget, Writes, installation_key
from bot.ports import RepositoryRef

MAX_RESPONSES, MAX_BYTES, MAX_RESPONSE_BYTES = 2_000, 4_000_000, 131_072
"""Number of responses, bytes of all, and bytes of one; a larger one is never cached."""
_PAGE, _PAGES = 100, 30
"""Items per page, which is GitHub's maximum, and pages per list."""
_NEEDED = (("/issues", "issues"), ("/pulls", "pull_requests"), ("/contents/", "contents"), ("/commits", "contents"))


class ResponseCache:
    """Cached responses of one process, by token's scope, so that none crosses tenants; no table holds private text."""

    def __init__(self) -> None:
        self._answers: OrderedDict[Hashable, GitHubResponse] = OrderedDict()
        self._size = 0

    def etag(self, key: Hashable) -> str:
        """Return the ETag of the cached response; empty if there is none."""
        cached = self._answers.get(key)
        return cached.etag if cached is not None else ""

    def get(self, key: Hashable) -> GitHubResponse | None:
        """Return the cached response, which GitHub has just confirmed; None if it was evicted."""
        cached = self._answers.get(key)
        if cached is None:
            return None
        self._answers.move_to_end(key)
        return replace(cached, data=json.loads(cached.content))

    def put(self, key: Hashable, response: GitHubResponse) -> None:
        """Replace the cached response if the new one has an ETag. The least recently used ones are evicted."""
        previous = self._answers.pop(key, None)
        self._size -= len(previous.content) if previous is not None else 0
        if response.status_code != 200 or not response.etag or len(response.content) > MAX_RESPONSE_BYTES:
            return
        # Only the bytes are stored: decoded JSON takes several times as much memory.
        self._answers[key] = replace(response, data=None)
        self._size += len(response.content)
        while len(self._answers) > MAX_RESPONSES or self._size > MAX_BYTES:
            _, oldest = self._answers.popitem(last=False)
            self._size -= len(oldest.content)


class Channel:
    """Calls for one repository. Each uses the repository's own token unless other repositories are given."""

    def __init__(
        self, session: Session, tokens: Tokens, writes: Writes, repository: RepositoryRef, cache: ResponseCache
    ) -> None:
        self._session = session
        self._cache = cache
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
    ) -> GitHubResponse:
        """Send a call and return its successful response.

        A read sends the ETag of the cached response; GitHub does not count it if that response is still valid.

        Raises:
            BotError: Any failure, as one of our types.
        """
        await self._writes.check_paused(self._installation)
        repositories = repositories or (self._repository.id,)
        call = partial(self._authorized, method, path, repositories, permissions, params=params, follow=follow)
        # GitHub's ETags differ for each token, and a response may contain what another token must not read.
        asked = (tuple(sorted(values.items())) for values in (permissions, params or {}))
        key = (self._installation, repositories, *asked, path)
        try:
            response = await (self._cached(key, call) if method == "GET" else call(json=json))
        except MissingPermissionError as error:
            # GitHub's header may be missing; the path then says which permission the call needs.
            needed = next(((name,) for part, name in _NEEDED if part in path), ())
            raise MissingPermissionError(str(error), permissions=error.permissions or needed) from error
        except RateLimitedError as error:
            # Stored, so that all processes pause and not only this one.
            await self._writes.limited(self._installation, error.after, whole=error.whole, write=method != "GET")
            raise
        await self._writes.answered(self._installation, write=method != "GET")
        return response

    async def take(self, budget: WriteBudget = WHOLE) -> None:
        """Count a write before it is sent, or refuse it if the budget of writes is used up."""
        await self._writes.take(self._installation, budget, self._repository.key)

    async def search(self, path: str, params: Mapping[str, str | int]) -> GitHubResponse:
        """Send a search. It has a rate limit of its own, so reaching it does not pause other calls."""
        # So neither `check_paused` nor `limited` is called here.
        return await self._authorized("GET", path, (self._repository.id,), WRITE_ISSUES, params=params)

    async def pages(self, path: str, params: Mapping[str, str | int]) -> AsyncIterator[list[Any]]:
        """Yield the pages of a list, at most 30."""
        # Bounded, because a server that repeats pages would otherwise cause requests without end.
        for number in range(1, _PAGES + 1):
            items, more = await self.page(path, params, number)
            yield items
            if not more:
                return

    async def page(self, path: str, params: Mapping[str, str | int], number: int) -> tuple[list[Any], bool]:
        """Return one page of a list, counted from 1, and whether another may follow."""
        response = await self.send("GET", path, params={**params, "per_page": _PAGE, "page": number})
        items: list[Any] = list(response.objects())
        # A server may return fewer items than requested on a page that is not the last.
        return items, len(items) >= _PAGE or bool(response.next_url)

    async def token(self, repositories: tuple[int | str, ...], permissions: Mapping[str, str]) -> str:
        """Return a token for these repositories only."""
        return await self._tokens.get(self._repository.installation_id, repositories, permissions)

    async def _cached(self, key: Hashable, call: Callable[..., Awaitable[GitHubResponse]]) -> GitHubResponse:
        response = await call(etag=self._cache.etag(key))
        if response.status_code != NOT_MODIFIED:
            self._cache.put(key, response)
            return response
        # Another task may have evicted it meanwhile: then send the request without an ETag.
        return self._cache.get(key) or await call()

    async def _authorized(
        self,
        method: str,
        path: str,
        repositories: tuple[int | str, ...],
        permissions: Mapping[str, str],
        **options: Any,
    ) -> GitHubResponse:
        """Send a call; if the token was rejected, once more with a new one. A rejected call was not executed."""
        token = await self.token(repositories, permissions)
        try:
            return await self._session.send(method, path, authorization=_bearer(token), **options)
        except TokenRefusedError:
            # A token may be revoked before it expires.
            self._tokens.forget(token)
        token = await self.token(repositories, permissions)
        return await self._session.send(method, path, authorization=_bearer(token), **options)


def _bearer(token: str) -> str:
    """Return the header; empty without a token, with which public repositories can be read."""
    return f"Bearer {token}" if token else ""
