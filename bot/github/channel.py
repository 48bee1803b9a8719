"""Send calls for one installation: with a narrowed token, pagination, and the pauses that GitHub asks for."""

from collections.abc import AsyncIterator, Mapping
from typing import Any

from bot.errors import MissingPermissionError, RateLimitedError
from bot.github.responses import Answer, TokenRefusedError
from bot.github.session import Session
from bot.github.tokens import WRITE_ISSUES, Tokens
from bot.limits.writes import WHOLE, WriteBudget, Writes, installation_key
from bot.ports import RepositoryRef

_PAGE, _PAGES = 100, 30
"""Items per page, which is GitHub's maximum, and pages per list."""
_NEEDED = (("/issues", "issues"), ("/pulls", "pull_requests"), ("/contents/", "contents"), ("/commits", "contents"))


class Channel:
    """Calls for one repository. Each uses the repository's own token unless other repositories are given."""

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
    ) -> Answer:
        """Send a call and return its successful response.

        Raises:
            BotError: Any failure, as one of our types.
        """
        await self._writes.check_paused(self._installation)
        repositories = repositories or (self._repository.id,)
        options: dict[str, Any] = {"json": json, "params": params, "follow": follow}
        try:
            response = await self._authorized(method, path, repositories, permissions, **options)
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

    async def search(self, path: str, params: Mapping[str, str | int]) -> Answer:
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

    async def _authorized(
        self,
        method: str,
        path: str,
        repositories: tuple[int | str, ...],
        permissions: Mapping[str, str],
        **options: Any,
    ) -> Answer:
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
