"""Decide which repositories a request to the API may read."""

from __future__ import annotations

import re

from pydantic import SecretStr
from starlette.requests import Request

from bot.server.api.models import ProblemError
from bot.server.api.pages import RepositoryPages
from bot.server.bearer import has_bearer_token
from bot.store.pages.rows import Keys
from bot.store.tables import Store

_PART = re.compile(r"[A-Za-z0-9_.-]{1,100}")


class Access:
    """Reads tokens: those of the settings reach every repository, a stored one reads a single repository."""

    def __init__(self, store: Store, *tokens: SecretStr | None) -> None:
        self._store = store
        self._tokens = tokens

    def admit(self, request: Request) -> None:
        """Require a token of the settings.

        Raises:
            ProblemError: the request has none.
        """
        if not has_bearer_token(request, *self._tokens):
            raise _unauthorized()

    async def keys(self, request: Request) -> Keys:
        """Return the keys of the repositories that the token reads; None means all.

        Raises:
            ProblemError: the request has no valid token.
        """
        if has_bearer_token(request, *self._tokens):
            return None
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        key = await self._store.api_tokens.repository(token.strip()) if scheme.lower() == "bearer" else None
        if key is None:
            raise _unauthorized()
        return [key]

    async def repository(self, request: Request) -> RepositoryPages:
        """Return the pages of the repository in the path.

        Raises:
            ProblemError: the request has no valid token, or there is no such repository that the token reads.
        """
        keys = await self.keys(request)
        owner, name = request.path_params["owner"], request.path_params["name"]
        pages = self._store.pages
        known = _PART.fullmatch(owner) and _PART.fullmatch(name)
        row = await pages.repositories.named(owner, name) if known else None
        # The same answer for both, so that a token does not reveal which other repositories exist.
        if row is None or (keys is not None and row.key not in keys):
            raise ProblemError(404, "no such repository, or the token does not read it")
        return RepositoryPages(pages, row)


def _unauthorized() -> ProblemError:
    return ProblemError(401, "a bearer token is required", headers={"WWW-Authenticate": "Bearer"})
