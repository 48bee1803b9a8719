"""Pages of one run: its steps, its findings and its result."""

from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from bot.report.links import Links
from bot.report.words import span
from bot.server.web.auth.sessions import viewer_of
from bot.server.web.pages import run_view
from bot.server.web.render import address, render
from bot.server.web.site import full_run, repository_of, site_of
from bot.store.pages.runs import FullRun


async def newest(request: Request) -> Response:
    """Redirect to the latest run of an issue."""
    repository = await repository_of(request)
    rows = await site_of(request).store.pages.runs.of_issue(f"{repository.key}#{request.path_params['issue']}")
    if not rows:
        raise HTTPException(404)
    return RedirectResponse(address(rows[-1]), 303)


async def shown(request: Request) -> Response:
    """Show a run's page."""
    full, runs = await full_run(request), site_of(request).store.pages.runs
    row, allowed, links = full.row, _may_read(request, full), _links(request, full)
    others = await runs.of_issue(row.issue_key)
    is_last = others[-1].number == row.number
    issue = f"{links.server_url}/{links.repository}/issues/{row.issue}"
    context = await runs.context(row)
    gathered, cost = await runs.evidence(row), await runs.cost(row)
    return render(
        request,
        "run/page.html",
        progress=run_view.progress(full, await runs.visits(row), shown=allowed),
        page=run_view.page(
            full, gathered=gathered, context=context, issue=issue, links=links, cost=cost, shown=allowed
        ),
        questions=await runs.questions(row),
        row=row,
        lasted=span(row.changed_at - row.began_at) if row.over and row.began_at else "",
        others=others,
        sha=full.sha,
        commit=links.commit_page(full.sha),
        issue=issue,
        is_last=is_last,
        seen=repr(row.changed_at),
    )


async def changed(request: Request) -> Response:
    """Return the part of a page that changes: 204 if it did not change since ``seen``, 205 once the run is over."""
    full, runs = await full_run(request), site_of(request).store.pages.runs
    seen = repr(full.row.changed_at)
    if full.row.over or request.query_params.get("seen") == seen:
        return Response(status_code=205 if full.row.over else 204)
    progress = run_view.progress(full, await runs.visits(full.row), shown=_may_read(request, full))
    return render(request, "run/progress.html", headers={"X-Seen": seen}, progress=progress)


def _may_read(request: Request, full: FullRun) -> bool:
    """Return whether the viewer may read what may be about a security problem, which is unknown until a run is over."""
    return viewer_of(request).is_operator or (full.result is not None and full.result.report.kind != "security")


def _links(request: Request, full: FullRun) -> Links:
    """Build links to the GitHub server that hosts the repository."""
    server, host = site_of(request).settings.github_server_url.rstrip("/"), full.row.repository_key.rpartition("/")[0]
    return Links(
        server if urlsplit(server).netloc == host else f"https://{host}",
        f"{full.row.owner}/{full.row.name}",
        full.sha,
    )
