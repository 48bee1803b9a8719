"""Pages of one run: its steps, its findings, its result, and buttons that give the same commands as comments."""

import re
import secrets
from typing import get_args
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from bot.jobs import MAX_ARGUMENT, PageCommand, PageCommandName
from bot.ports import IssueRef
from bot.report.links import Links
from bot.report.words import span
from bot.server.connections.bodies import read_form
from bot.server.web.auth.sessions import Viewer, viewer_of
from bot.server.web.pages import run_view
from bot.server.web.render import address, line, render
from bot.server.web.site import full_run, repository_of, site_of
from bot.store.jobs.deliveries import Arrival
from bot.store.pages.rows import RunRow
from bot.store.pages.runs import FullRun

_ID = re.compile(r"[A-Za-z0-9_-]{16}")
_NAMES: dict[str, PageCommandName] = {name: name for name in get_args(PageCommandName)}
_OFFERED: tuple[PageCommandName, ...] = ("triage", "right")
DONE = "done"
"""The message of a job whose command was accepted (``bot.worker.commands.execute``)."""


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
    again, judge = (may_give(viewer_of(request), row, name, context.origin.author) for name in _OFFERED)
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
        again=again,
        judge=judge and is_last and full.result is not None,
        notice=await _notice(request, row),
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
    server = server if urlsplit(server).netloc == host else f"https://{host}"
    return Links(server, f"{full.row.owner}/{full.row.name}", full.sha)


async def accept(request: Request) -> Response:
    """Store a command for the worker; HTTPException 400, 403 or 404 if there is none, for this viewer or run."""
    row, viewer, form = (await full_run(request)).row, viewer_of(request), await read_form(request)
    name, why = _NAMES.get(form.get("name", "")), " ".join(form.get("why", "").split())
    if name is None:
        raise HTTPException(400)
    author = (await site_of(request).store.pages.runs.context(row)).origin.author
    if not may_give(viewer, row, name, author):
        raise HTTPException(403)
    if name == "wrong" and not why:
        return RedirectResponse(f"{address(row)}?unsaid=1", 303)
    id_ = await _store(request, row, viewer, name, why)
    return RedirectResponse(f"{address(row)}?request={id_}", 303)


def may_give(viewer: Viewer, row: RunRow, name: PageCommandName, author: str) -> bool:
    """Return whether to accept a command; the worker asks GitHub again. The author may only ask for another run."""
    is_author = name == "triage" and bool(author) and viewer.name.casefold() == author.casefold()
    return viewer.may_triage(row.repository_key) or (is_author and not viewer.is_operator)


async def _notice(request: Request, row: RunRow) -> tuple[str, str]:
    """Return the tone and the text of the last command's result."""
    if "unsaid" in request.query_params:
        return "warn", "Nothing was sent: say what is wrong."
    id_ = request.query_params.get("request", "")
    if not _ID.fullmatch(id_):
        return "", ""
    found = await site_of(request).store.pages.runs.request(row.issue_key, f"page:{id_}")
    state, message = found or ("done", "The same request waits already.")
    if state != "done":
        return "warn", "Your request is stored and is done within seconds. Reload the page to see its result."
    if message == DONE:
        return "good", "Your request was accepted. A run that it began is listed here as soon as it starts."
    return "bad", f"Not done: {line(message)}"


async def _store(request: Request, row: RunRow, viewer: Viewer, name: PageCommandName, why: str) -> str:
    """Store the job and return its id; the address of the page contains it."""
    site, id_ = site_of(request), secrets.token_urlsafe(12)
    host, _, number = row.repository_key.rpartition("/")
    # The worker looks up the installation, as for every job.
    ref = IssueRef(host, 0, int(number), row.owner, row.name, row.issue)
    work = PageCommand(
        ref=ref,
        name=name,
        argument=why[:MAX_ARGUMENT] if name == "wrong" else "",
        by=viewer.name,
        by_id=viewer.id,
        is_operator=viewer.is_operator,
    )
    await site.store.inbox.accept(Arrival(f"page:{id_}", "page", b"", (work,)))
    site.wake()
    return id_
