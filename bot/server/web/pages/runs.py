"""The list of runs, and the pages of repositories: how accurate the reports of each were."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.limits.ceilings import describe_limit
from bot.report.record import ENOUGH, read_record
from bot.server.web.auth.sessions import viewer_of
from bot.server.web.render import render
from bot.server.web.site import repository_of, site_of
from bot.server.web.views import record
from bot.server.web.views.rows import (
    Condition,
    RequestedFilter,
    Row,
    conditions,
    read_conditions,
    read_place,
    write_place,
)
from bot.store.pages.rows import Listing, RunFilter, RunRow
from bot.store.pages.runs import COUNTED, Runs

_LAST = 8
"""Issues with runs on a repository's page. The list of runs shows all of them."""


def routes() -> list[Route]:
    """Return the routes. They require a login."""
    return [
        Route("/runs", listed),
        Route("/runs/rows", changed),
        Route("/repositories", repositories),
        Route("/repositories/{owner}/{name}", repository),
    ]


async def listed(request: Request) -> Response:
    """List the issues with runs that match the requested filter, the newest run first."""
    pages, keys = site_of(request).store.pages, viewer_of(request).repositories
    seen = repr(await pages.runs.last_change(keys))
    form, asked = await _asked(request)
    found = await _page(request, asked)
    return render(
        request,
        "runs.html",
        rows=await rows_of(pages.runs, asked.filter, found.rows),
        counts=await pages.runs.counts(asked.filter, keys),
        counted=COUNTED,
        asked=asked,
        form=form,
        newer=write_place(found.newer),
        older=write_place(found.older),
        seen=seen,
        query=asked.address(**{name: request.query_params.get(name, "") for name in ("before", "after")}),
    )


async def changed(request: Request) -> Response:
    """Return the rows of the list: 204 if no run changed since ``seen``."""
    runs = site_of(request).store.pages.runs
    seen = repr(await runs.last_change(viewer_of(request).repositories))
    if request.query_params.get("seen") == seen:
        return Response(status_code=204)
    _, asked = await _asked(request)
    rows = await rows_of(runs, asked.filter, (await _page(request, asked)).rows)
    return render(request, "runs_table.html", headers={"X-Seen": seen}, rows=rows)


async def _page(request: Request, asked: RequestedFilter) -> Listing:
    before, after = (read_place(request.query_params.get(name, "")) for name in ("before", "after"))
    runs, keys = site_of(request).store.pages.runs, viewer_of(request).repositories
    return await runs.listing(asked.filter, keys, before=before, after=after, folded=True)


async def _asked(request: Request) -> tuple[tuple[Condition, ...], RequestedFilter]:
    """Return the form that the viewer sees, and the conditions of the request."""
    pages, keys = site_of(request).store.pages, viewer_of(request).repositories
    form = conditions(await pages.repositories.all(keys))
    return form, read_conditions(request.query_params, form)


async def rows_of(runs: Runs, wanted: RunFilter, newest: Sequence[RunRow]) -> list[Row]:
    """Return the rows of a list: the newest matching run of each issue, with the earlier ones below it."""
    earlier = await runs.earlier(wanted, newest)
    return [Row.of(row, *earlier.get(row.issue_key, ((), 0))) for row in newest]


async def repositories(request: Request) -> Response:
    """List the repositories that the viewer may see."""
    found = await site_of(request).store.pages.repositories.all(viewer_of(request).repositories)
    return render(request, "repositories.html", repositories=found)


async def repository(request: Request) -> Response:
    """Show one repository: accuracy, labels, budgets and its latest runs."""
    pages, known_as = site_of(request).store.pages, await repository_of(request)
    known = record.read(await pages.repositories.outcomes({known_as.key}))
    people = site_of(request).store.of_repository(known_as.key).outcomes
    counts = await pages.runs.counts(RunFilter(repository=known_as.key), viewer_of(request).repositories)
    runs = await pages.runs.listing(
        RunFilter(repository=known_as.key), viewer_of(request).repositories, most=_LAST, folded=True
    )
    return render(
        request,
        "repository.html",
        repository=known_as,
        record=known,
        awaiting=counts.issues["outcome"].get("awaiting", 0),
        words=read_record(*await people.standing()),
        enough=ENOUGH,
        labels=await pages.repositories.labels(known_as.key),
        spent=await pages.repositories.spent(known_as.key),
        explained=describe_limit,
        rows=await rows_of(pages.runs, RunFilter(repository=known_as.key), runs.rows),
    )
