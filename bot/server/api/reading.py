"""``GET /api/v1/repositories…``: what the App stored, as pages of JSON or as one stream of JSON lines."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, TypeVar

from pydantic import BaseModel, SecretStr, ValidationError
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from bot.server.api import pages
from bot.server.api.models import Fault, ProblemError, unavailable
from bot.server.api.pages import RepositoryPages
from bot.server.api.stored import OutcomeQuery, Query, ReportQuery, RepositoryQuery, RunQuery, UsageQuery
from bot.server.web.security import has_bearer_token
from bot.settings.plain import explain
from bot.store.databases.database import StoreError
from bot.store.pages.rows import Keys
from bot.store.tables import Store

JSON_LINES = "application/x-ndjson"
_MAX_NUMBER = 999_999_999
"""Largest number of an issue or a run that a path may name."""
Q = TypeVar("Q", bound=Query)
Read = Callable[[Any], Awaitable[Any]]
_PART = re.compile(r"[A-Za-z0-9_.-]{1,100}")


class Reading:
    """The routes of the read API."""

    def __init__(self, store: Store, access: Access) -> None:
        self._store = store
        self._access = access

    def routes(self) -> list[Route]:
        """Return the routes; each requires a token."""
        one = "/repositories/{owner}/{name}"
        listings: dict[str, tuple[type[Query], Callable[[RepositoryPages], Read]]] = {
            "runs": (RunQuery, lambda of: of.runs),
            "reports": (ReportQuery, lambda of: of.reports),
            "facts": (ReportQuery, lambda of: of.facts),
            "outcomes": (OutcomeQuery, lambda of: of.outcomes),
            "usage": (UsageQuery, lambda of: of.usage),
        }
        return [
            Route("/repositories", self._repositories, methods=["GET"]),
            *(Route(f"{one}/{name}", self._listing(*how), methods=["GET"]) for name, how in listings.items()),
            Route(one + "/runs/{issue}/{run}", self._run, methods=["GET"]),
        ]

    def _listing(
        self, query: type[Query], reader: Callable[[RepositoryPages], Read]
    ) -> Callable[[Request], Awaitable[Response]]:
        async def listed(request: Request) -> Response:
            try:
                of = await self._access.repository(request)
                return await _answer(request, _query(request, query), reader(of))
            except StoreError:
                raise unavailable() from None

        return listed

    async def _repositories(self, request: Request) -> Response:
        try:
            keys = await self._access.keys(request)
            return await _answer(
                request,
                _query(request, RepositoryQuery),
                lambda query: pages.repositories(self._store.pages, keys, query),
            )
        except StoreError:
            raise unavailable() from None

    async def _run(self, request: Request) -> Response:
        """Return one run with its result."""
        try:
            of = await self._access.repository(request)
            _query(request, Query)
            issue, number = (_positive(request.path_params[name]) for name in ("issue", "run"))
            found = await of.run(issue, number)
        except StoreError:
            raise unavailable() from None
        if found is None:
            raise ProblemError(404, "the run does not exist, or was deleted")
        return _json(found)


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


async def _answer(request: Request, query: Query, read: Read) -> Response:
    page = await read(query)
    if JSON_LINES not in request.headers.get("accept", ""):
        return _json(page)
    return StreamingResponse(_lines(query, page, read), media_type=JSON_LINES)


async def _lines(query: Query, page: Any, read: Read) -> AsyncIterator[str]:
    """Yield each item of all pages as a line; one page is in memory at a time."""
    while True:
        for item in page.items:
            yield item.model_dump_json() + "\n"
        if page.next is None:
            return
        query = query.model_copy(update={"cursor": page.next})
        page = await read(query)


def _query(request: Request, model: type[Q]) -> Q:
    given = request.query_params.multi_items()
    if len(dict(given)) < len(given):
        raise ProblemError(422, "a parameter is given twice")
    try:
        return model.model_validate(dict(given))
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False)
        named = [Fault(where=".".join(map(str, fault["loc"]))[:100], says=explain(fault)) for fault in faults]
        raise ProblemError(422, "a parameter is not valid", errors=named[:20]) from None


def _positive(text: str) -> int:
    number = int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 0
    if not 1 <= number <= _MAX_NUMBER:
        raise ProblemError(404, "the run does not exist, or was deleted")
    return number


def _json(model: BaseModel) -> Response:
    return Response(model.model_dump_json(), media_type="application/json")


def _unauthorized() -> ProblemError:
    return ProblemError(401, "a bearer token is required", headers={"WWW-Authenticate": "Bearer"})
