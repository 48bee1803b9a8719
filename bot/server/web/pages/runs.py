"""The list of runs."""

from __future__ import annotations

from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.server.web import streams
from bot.server.web.auth.sessions import Viewer, viewer_of
from bot.server.web.render import environment, render
from bot.server.web.site import site_of
from bot.server.web.views import filters
from bot.server.web.views.filters import Row
from bot.store.pages.rows import RunRow


def routes() -> list[Route]:
    """Return the routes. They require a login."""
    return [Route("/runs", listed), Route("/runs/live", live)]


async def listed(request: Request) -> Response:
    """List the runs that match the requested filter, newest first."""
    pages, keys = site_of(request).store.pages, viewer_of(request).repositories
    repositories = await pages.repositories.all(keys)
    asked = filters.read(request.query_params, repositories)
    before, after = (filters.place(request.query_params.get(name, "")) for name in ("before", "after"))
    found = await pages.runs.listing(asked.filter, keys, before=before, after=after)
    rows = [Row.of(row) for row in found.rows]
    return render(
        request,
        "runs.html",
        rows=rows,
        asked=asked,
        choices=filters,
        repositories=repositories,
        brains=await pages.runs.brains(keys),
        newer=filters.written(found.newer),
        older=filters.written(found.older),
        first=found.newer is None,
        seen=repr(max((row.run.changed_at for row in rows), default=0.0)),
    )


async def live(request: Request) -> EventSourceResponse:
    """Stream the rows of the list as they change."""
    pages, keys = site_of(request).store.pages, viewer_of(request).repositories
    wanted = filters.read(request.query_params, await pages.repositories.all(keys)).filter

    async def says(row: RunRow, viewer: Viewer) -> ServerSentEvent:  # noqa: ARG001  a row is the same for all viewers
        text = await site_of(request).live.once(("row", row.thread, row.changed_at, row.status), lambda: _row(row))
        return ServerSentEvent(text, event="row", id=streams.event_id(row))

    async def missed(since: float) -> list[RunRow]:
        changed = [key for key, at in (await pages.runs.changes()).items() if at > since]
        rows = [await pages.runs.row(*key) for key in reversed(changed)]
        return [row for row in rows if row is not None]

    return streams.stream(request, streams.Watch(wanted.matches, says, missed))


async def _row(row: RunRow) -> str:
    return environment().get_template("run_row.html").render(row=Row.of(row))
