"""``GET /api/v1/repositories…``: what the App stored, as pages of JSON or as one stream of JSON lines."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any, TypeVar

from pydantic import BaseModel, SecretStr, ValidationError
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from bot.report.document import Result
from bot.server.api import stored
from bot.server.api.models import Fault, ProblemError, unavailable
from bot.server.web.security import has_bearer_token
from bot.settings.plain import explain
from bot.store.databases.database import StoreError
from bot.store.pages import Pages
from bot.store.pages.repositories import RepositoryRow
from bot.store.pages.rows import Keys, Listing, Place, RunFilter, RunRow
from bot.store.pages.runs import StoredResult
from bot.store.tables import Store

JSON_LINES = "application/x-ndjson"
_MAX_NUMBER = 999_999_999
"""Largest number of an issue or a run that a path may name."""
_ALL_DAYS = 4_000
"""More days than usage is retained for."""
_PART = re.compile(r"[A-Za-z0-9_.-]{1,100}")
Q = TypeVar("Q", bound=stored.Query)
Read = Callable[[Any], Awaitable[Any]]


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

    async def repository(self, request: Request) -> RepositoryRow:
        """Return the repository in the path.

        Raises:
            ProblemError: the request has no valid token, or there is no such repository that the token reads.
        """
        keys = await self.keys(request)
        owner, name = request.path_params["owner"], request.path_params["name"]
        known = _PART.fullmatch(owner) and _PART.fullmatch(name)
        row = await self._store.pages.repositories.named(owner, name) if known else None
        # The same answer for both, so that a token does not reveal which other repositories exist.
        if row is None or (keys is not None and row.key not in keys):
            raise ProblemError(404, "no such repository, or the token does not read it")
        return row


def reading_routes(store: Store, access: Access) -> list[Route]:
    """Return the routes of the read API; each requires a token."""
    one = "/repositories/{owner}/{name}"

    async def repositories(request: Request) -> Response:
        keys = await access.keys(request)
        return await _answer(request, stored.RepositoryQuery, lambda query: _repositories(store.pages, keys, query))

    async def run(request: Request) -> Response:
        repository = await access.repository(request)
        _query(request, stored.Query)
        issue, number = (_positive(request.path_params[name]) for name in ("issue", "run"))
        row = await store.pages.runs.row(f"{repository.key}#{issue}", number)
        if row is None:
            raise ProblemError(404, "the run does not exist, or was deleted")
        (found,) = await store.pages.runs.results([row])
        return _json(await asyncio.to_thread(_whole, found))

    def listing(name: str) -> Callable[[Request], Awaitable[Response]]:
        model, read = _LISTINGS[name]

        async def listed(request: Request) -> Response:
            repository = await access.repository(request)
            return await _answer(request, model, lambda query: read(store.pages, repository, query))

        return listed

    return [
        Route("/repositories", _stored(repositories), methods=["GET"]),
        *(Route(f"{one}/{name}", _stored(listing(name)), methods=["GET"]) for name in _LISTINGS),
        Route(one + "/runs/{issue}/{run}", _stored(run), methods=["GET"]),
    ]


def _stored(answer: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
    async def answered(request: Request) -> Response:
        try:
            return await answer(request)
        except StoreError:
            raise unavailable() from None

    return answered


async def _answer(request: Request, model: type[Q], read: Read) -> Response:
    query = _query(request, model)
    page = await read(query)
    if JSON_LINES not in request.headers.get("accept", ""):
        return _json(page)
    return StreamingResponse(_lines(query, page, read), media_type=JSON_LINES)


async def _lines(query: stored.Query, page: Any, read: Read) -> AsyncIterator[str]:
    """Yield each item of all pages as a line; one page is in memory at a time."""
    while True:
        for item in page.items:
            yield item.model_dump_json() + "\n"
        if page.next is None:
            return
        query = query.model_copy(update={"cursor": page.next})
        page = await read(query)


async def _repositories(pages: Pages, keys: Keys, query: stored.RepositoryQuery) -> stored.RepositoryPage:
    rows = await pages.repositories.after(keys, query.cursor or "", query.limit + 1)
    items = [
        stored.StoredRepository(
            repository=row.full_name,
            host=row.host,
            archived=row.archived,
            removed=row.gone,
            runs=row.runs,
            last_run_at=_time(row.last_began),
        )
        for row in rows[: query.limit]
    ]
    return stored.RepositoryPage(items=items, next=rows[query.limit - 1].key if len(rows) > query.limit else None)


async def _runs(pages: Pages, repository: RepositoryRow, query: stored.RunQuery) -> stored.RunPage:
    found = await _listing(pages, repository, query)
    return stored.RunPage(items=[stored.TriageRun(**_run(row)) for row in found.rows], next=_cursor(found.older))


async def _reports(pages: Pages, repository: RepositoryRow, query: stored.ReportQuery) -> stored.ReportPage:
    listing = await _listing(pages, repository, query)
    results = await pages.runs.results(listing.rows)
    # Parsing some megabytes of JSON would delay deliveries.
    items = await asyncio.to_thread(lambda: [_report(found, found.result) for found in results if found.result])
    return stored.ReportPage(items=items, next=_cursor(listing.older))


async def _facts(pages: Pages, repository: RepositoryRow, query: stored.ReportQuery) -> stored.FactPage:
    page = await _reports(pages, repository, query)
    items = [
        stored.StoredFact(
            repository=one.repository,
            issue=one.issue,
            run=one.run,
            commit=one.commit,
            leads=number == one.report.headline,
            fact=fact,
        )
        for one in page.items
        for number, fact in enumerate(one.report.facts)
    ]
    return stored.FactPage(items=items, next=page.next)


async def _outcomes(pages: Pages, repository: RepositoryRow, query: stored.OutcomeQuery) -> stored.OutcomePage:
    after = int(query.cursor) if query.cursor else None
    rows = await pages.repositories.outcome_rows(
        repository.key, state=query.state or "", after=after, most=query.limit + 1
    )
    items = [stored.StoredOutcome(repository=repository.full_name, **row) for row in rows[: query.limit]]
    return stored.OutcomePage(items=items, next=str(items[-1].issue) if len(rows) > query.limit else None)


async def _usage(pages: Pages, repository: RepositoryRow, query: stored.UsageQuery) -> stored.UsagePage:
    first, last = (str(day) if day else default for day, default in ((query.since, ""), (query.until, "9999-12-31")))
    days = [
        day
        for day in await pages.repositories.spent(repository.key, _ALL_DAYS)
        if first <= day.day <= last and (query.cursor is None or day.day < query.cursor)
    ]
    items = [
        stored.DayOfUsage(
            repository=repository.full_name,
            day=date.fromisoformat(day.day),
            model_calls=day.calls,
            model_tokens=day.tokens,
            cost_dollars=day.cost / 1_000_000,
            issues=day.issues,
            limits=dict(day.limits),
        )
        for day in days[: query.limit]
    ]
    return stored.UsagePage(items=items, next=items[-1].day.isoformat() if len(days) > query.limit else None)


_LISTINGS: Mapping[str, tuple[type[stored.Query], Callable[[Pages, RepositoryRow, Any], Awaitable[Any]]]] = {
    "runs": (stored.RunQuery, _runs),
    "reports": (stored.ReportQuery, _reports),
    "facts": (stored.ReportQuery, _facts),
    "outcomes": (stored.OutcomeQuery, _outcomes),
    "usage": (stored.UsageQuery, _usage),
}
"""What is listed of a repository: each with its parameters, and the function that reads a page."""


async def _listing(pages: Pages, repository: RepositoryRow, query: stored.RunQuery) -> Listing:
    wanted = RunFilter(
        repository=repository.key,
        issue=query.issue,
        status=query.status or "",
        kind=query.kind or "",
        claimed=query.claimed,
        brain=query.brain or "",
        since=_midnight(query.since),
        until=_midnight(query.until, days=1),
    )
    before = None
    if query.cursor is not None:
        began, issue, number = query.cursor.split(",")
        before = Place(float(began), f"{repository.key}#{int(issue)}", int(number))
    return await pages.runs.listing(wanted, None, before=before, most=query.limit)


def _cursor(place: Place | None) -> str | None:
    return f"{place.began_at:.9f},{place.issue_key.rpartition('#')[2]},{place.number}" if place else None


def _run(row: RunRow) -> dict[str, Any]:
    return {
        "repository": f"{row.owner}/{row.name}",
        "issue": row.issue,
        "run": row.number,
        "title": row.title,
        "status": row.status,
        "brain": row.brain,
        "kind": row.kind or None,
        "claimed": row.claimed,
        "confidence": row.confidence,
        "began_at": _time(row.began_at),
        "changed_at": datetime.fromtimestamp(row.changed_at, UTC),
    }


def _whole(found: StoredResult) -> stored.WholeRun:
    result = Result.model_validate_json(found.result) if found.result else None
    return stored.WholeRun(**_run(found.row), commit=found.sha or None, result=result)


def _report(found: StoredResult, result: str) -> stored.StoredReport:
    report = Result.model_validate_json(result).report
    return stored.StoredReport(**_run(found.row), commit=found.sha or None, language=report.language, report=report)


def _midnight(day: date | None, days: int = 0) -> float | None:
    """Return the start of a day in seconds since 1970, or that of a later one."""
    if day is None:
        return None
    start = datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()
    return start + timedelta(days=days).total_seconds()


def _time(seconds: float | None) -> datetime | None:
    return datetime.fromtimestamp(seconds, UTC) if seconds else None


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
