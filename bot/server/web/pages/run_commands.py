"""The buttons of a run's page: the same commands as in comments, for people who may give them."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from typing import get_args

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from bot.jobs import MAX_ARGUMENT, PageCommand, PageCommandName
from bot.ports import IssueRef
from bot.server.connections.bodies import read_form
from bot.server.web.auth.sessions import Viewer, viewer_of
from bot.server.web.site import run_of, site_of
from bot.server.web.views.rows import address
from bot.server.web.views.words import line
from bot.store.jobs.deliveries import Arrival
from bot.store.pages.rows import RunRow

_ID = re.compile(r"[A-Za-z0-9_-]{16}")
_NAMES: dict[str, PageCommandName] = {name: name for name in get_args(PageCommandName)}
DONE = "done"
"""The message of a job whose command was accepted (``bot.worker.commands.execute``)."""


@dataclass(frozen=True, slots=True)
class Buttons:
    """The commands that a viewer is offered, and the result of their last one."""

    again: bool
    judge: bool
    tone: str
    """Tone of the notice on the last command; empty without one."""
    notice: str


def route(path: str) -> Route:
    """Return the route that accepts commands; ``path`` is that of a run."""
    return Route(f"{path}/command", accept, methods=["POST"])


async def accept(request: Request) -> Response:
    """Store a command for the worker; ``Shield`` has already refused forms of other sites.

    Raises:
        HTTPException: 400, no such command; 403, the viewer may not give it; 404, no such run.
    """
    row, viewer, form = await run_of(request), viewer_of(request), await read_form(request)
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


async def buttons(request: Request, row: RunRow, author: str, *, judged: bool) -> Buttons:
    """Return what the page of a run offers.

    Args:
        request: the request for the page, which names the last command.
        row: the issue's last run.
        author: login of the issue's author.
        judged: whether there is a report to judge.
    """
    viewer = viewer_of(request)
    tone, notice = await _notice(request, row)
    return Buttons(
        again=may_give(viewer, row, "triage", author),
        judge=judged and may_give(viewer, row, "right", author),
        tone=tone,
        notice=notice,
    )


async def _notice(request: Request, row: RunRow) -> tuple[str, str]:
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
