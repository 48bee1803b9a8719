"""Repository pages: how accurate the reports of each repository were."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.limits.ceilings import describe_limit
from bot.report.record import ENOUGH, read_record
from bot.server.web.auth.sessions import viewer_of
from bot.server.web.pages.runs import rows_of
from bot.server.web.render import render
from bot.server.web.site import repository_of, site_of
from bot.server.web.views import record
from bot.server.web.views.words import moment
from bot.store.pages.selection import RunFilter

_LAST = 8
"""Issues with runs on a repository's page. The list of runs shows all of them."""


def routes() -> list[Route]:
    """Return the routes. They require a login."""
    return [Route("/repositories", listed), Route("/repositories/{owner}/{name}", shown)]


async def listed(request: Request) -> Response:
    """List the repositories that the viewer may see."""
    found = await site_of(request).store.pages.repositories.all(viewer_of(request).repositories)
    return render(request, "repositories.html", repositories=[(one, moment(one.last_began or 0)) for one in found])


async def shown(request: Request) -> Response:
    """Show one repository: accuracy, labels, budgets and its latest runs."""
    pages, repository = site_of(request).store.pages, await repository_of(request)
    known = record.read(await pages.repositories.outcomes({repository.key}))
    cases = record.Cases(repository.full_name)
    people = site_of(request).store.record_of(repository.key)
    counts = await pages.runs.counts(RunFilter(repository=repository.key), viewer_of(request).repositories)
    runs = await pages.runs.listing(
        RunFilter(repository=repository.key), viewer_of(request).repositories, most=_LAST, folded=True
    )
    return render(
        request,
        "repository.html",
        repository=repository,
        record=known,
        awaiting=counts.issues["outcome"].get("awaiting", 0),
        cases=cases,
        between=record.between,
        words=read_record(known.pairs, await people.judged(), await people.labelled()),
        enough=ENOUGH,
        labels=await pages.repositories.labels(repository.key),
        spent=await pages.repositories.spent(repository.key),
        explained=describe_limit,
        taught=await site_of(request).store.components_of(repository.key).all(),
        rows=await rows_of(pages.runs, RunFilter(repository=repository.key), runs.rows),
    )
