"""The list of runs, and the pages of repositories: how accurate the reports of each were."""

from __future__ import annotations

from collections.abc import Sequence

from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.limits.ceilings import describe_limit
from bot.report.record import ENOUGH, read_record
from bot.server.web.auth.sessions import Viewer, viewer_of
from bot.server.web.live import event_id, stream
from bot.server.web.render import environment, render
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
from bot.store.pages.rows import RunFilter, RunRow
from bot.store.pages.runs import COUNTED, FOLDED, Runs

_LAST = 8
"""Issues with runs on a repository's page. The list of runs shows all of them."""


def routes() -> list[Route]:
    """Return the routes. They require a login."""
    return [
        Route("/runs", listed),
        Route("/runs/live", live),
        Route("/repositories", repositories),
        Route("/repositories/{owner}/{name}", repository),
    ]


async def listed(request: Request) -> Response:
    """List the issues with runs that match the requested filter, the newest run first."""
    pages, keys = site_of(request).store.pages, viewer_of(request).repositories
    form, asked = await _asked(request)
    before, after = (read_place(request.query_params.get(name, "")) for name in ("before", "after"))
    found = await pages.runs.listing(asked.filter, keys, before=before, after=after, folded=True)
    counts = await pages.runs.counts(asked.filter, keys)
    return render(
        request,
        "runs.html",
        rows=await rows_of(pages.runs, asked.filter, found.rows),
        counts=counts,
        counted=COUNTED,
        asked=asked,
        form=form,
        newer=write_place(found.newer),
        older=write_place(found.older),
        first=found.newer is None,
        seen=repr(max((row.changed_at for row in found.rows), default=0.0)),
    )


async def _asked(request: Request) -> tuple[tuple[Condition, ...], RequestedFilter]:
    """Return the form that the viewer sees, and the conditions of the request."""
    pages, keys = site_of(request).store.pages, viewer_of(request).repositories
    form = conditions(await pages.repositories.all(keys))
    return form, read_conditions(request.query_params, form)


async def rows_of(runs: Runs, wanted: RunFilter, newest: Sequence[RunRow]) -> list[Row]:
    """Return the rows of a list: the newest matching run of each issue, with the earlier ones below it."""
    earlier = await runs.earlier(wanted, newest)
    return [Row.of(row, *earlier.get(row.issue_key, ((), 0))) for row in newest]


async def live(request: Request) -> EventSourceResponse:
    """Stream the rows of the list as they change."""
    site, wanted = site_of(request), (await _asked(request))[1].filter

    async def event(row: RunRow, viewer: Viewer) -> ServerSentEvent:  # noqa: ARG001  a row is the same for all viewers
        key = ("row", row.thread, row.changed_at, row.status, wanted)
        text = await site.live.once(key, lambda: _row(site.store.pages.runs, wanted, row))
        return ServerSentEvent(text, event="row", id=event_id(row))

    return stream(site, request, event, shows=wanted.matches)


async def _row(runs: Runs, wanted: RunFilter, changed: RunRow) -> str:
    """Render the row of the issue of a run that changed: its newest matching run, with the earlier ones."""
    matching = [row for row in await runs.of_issue(changed.issue_key) if wanted.matches(row)] or [changed]
    *earlier, newest = matching
    row = Row.of(newest, earlier[: -FOLDED - 1 : -1], len(earlier))
    return environment().get_template("run_row.html").render(row=row)


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
