"""The first page: what waits for a person, and how often the first file was right."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.limits.ceilings import describe_limit
from bot.server.web.auth.sessions import viewer_of
from bot.server.web.render import render
from bot.server.web.site import site_of
from bot.server.web.views import record
from bot.server.web.views.rows import Row
from bot.server.web.views.words import line, moment, prose
from bot.store.pages.selection import RunFilter


def routes() -> list[Route]:
    """Return the route. It requires a login."""
    return [Route("/", home)]


async def home(request: Request) -> Response:
    """Show what waits for a person in the repositories that the viewer may see."""
    pages, keys = site_of(request).store.pages, viewer_of(request).repositories
    # The counts of the list of runs, so that its numbers and these are the same.
    counted = (await pages.runs.counts(RunFilter(), keys)).issues
    questions, ended = await pages.attention.questions(keys), await pages.attention.ended(keys)
    lacked, jobs = await pages.attention.lacked(keys), await pages.queue.listing("dead", keys)
    dead = (await pages.queue.counts(keys)).get("dead", 0)
    figures = (
        ("Questions", counted["status"].get("waiting", 0), "/runs?status=waiting"),
        ("Stopped or failed", len(ended), "#ended"),
        ("Missing permissions", len(lacked), "#permissions"),
        ("Dead jobs", dead, "/queue"),
        ("Awaiting a fix", counted["outcome"].get("awaiting", 0), "/runs?outcome=awaiting"),
    )
    return render(
        request,
        "home.html",
        figures=figures,
        questions=[(Row.of(one.run), prose(one.text), moment(one.asked_at)) for one in questions],
        ended=[(Row.of(one.run), line(one.reason), moment(one.run.changed_at)) for one in ended],
        lacked=[(one, describe_limit(one.code)) for one in lacked],
        dead=[(one, one.kind.replace("_", " "), line(one.message)) for one in jobs[:5]],
        record=record.read(await pages.repositories.outcomes(keys)),
        between=record.between,
    )
