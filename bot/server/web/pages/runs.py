"""The list of runs, and the pages of repositories: how accurate the reports of each were."""

from __future__ import annotations

import csv
import io
from collections.abc import AsyncIterator, Iterable, Sequence

from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
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
from bot.server.web.views.words import line, moment
from bot.store.pages.rows import Keys, Place, RunFilter, RunRow
from bot.store.pages.runs import COUNTED, FOLDED, Runs

CSV_RUNS = 20_000
"""Runs in a CSV file, the newest ones."""
_PIECE = 500
"""Runs that are read at once for a CSV file."""
CSV_HEADER = (
    *("repository", "issue", "run", "title", "status", "kind", "file", "function", "outcome", "confidence"),
    *("judged_by", "began", "link"),
)
_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20", "\t", "\r")
"""First characters of a cell that a spreadsheet may execute, also as full-width characters (OWASP, CSV injection)."""
_LAST = 8
"""Issues with runs on a repository's page. The list of runs shows all of them."""


def routes() -> list[Route]:
    """Return the routes. They require a login."""
    return [
        Route("/runs", listed),
        Route("/runs.csv", as_csv),
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
        most_in_csv=CSV_RUNS,
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


async def as_csv(request: Request) -> Response:
    """Send the runs that match the requested filter, newest first, one line each, as many as ``CSV_RUNS``."""
    site, keys = site_of(request), viewer_of(request).repositories
    _, asked = await _asked(request)
    lines = _csv(site.store.pages.runs, asked.filter, keys, site.address(request))
    named = {"content-disposition": 'attachment; filename="runs.csv"'}
    return StreamingResponse(lines, media_type="text/csv", headers=named)


async def _csv(runs: Runs, wanted: RunFilter, keys: Keys, address: str) -> AsyncIterator[str]:
    yield csv_text([CSV_HEADER])
    at: Place | None = None
    for _ in range(CSV_RUNS // _PIECE):
        found = await runs.listing(wanted, keys, before=at, most=_PIECE)
        yield csv_text(csv_cells(row, address) for row in found.rows)
        at = found.older
        if at is None:
            return


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


def csv_text(lines: Iterable[Sequence[str]]) -> str:
    """Write lines of cells; a text that a spreadsheet may read as a formula gets an apostrophe in front."""
    out = io.StringIO()
    csv.writer(out, quoting=csv.QUOTE_ALL).writerows(map(_inert, lines))
    return out.getvalue()


def csv_cells(run: RunRow, address: str) -> tuple[str, ...]:
    """Return the cells of a run."""
    row = Row.of(run)
    return (
        *(f"{run.owner}/{run.name}", str(run.issue), str(run.number), row.title, run.status, run.kind),
        *(line(run.place), line(run.symbol), row.outcome, "" if run.confidence is None else f"{run.confidence:.4f}"),
        *(run.brain, began.iso if (began := moment(run.began_at)) else "", f"{address}{row.address}"),
    )


def _inert(line: Sequence[str]) -> list[str]:
    return [f"'{cell}" if cell.lstrip(" ").startswith(_FORMULA) else cell for cell in line]


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
