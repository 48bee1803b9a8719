"""Show what waits for a person, and the queue of jobs."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from bot.limits.ceilings import describe_limit
from bot.server.web.auth.sessions import must_operate, viewer_of
from bot.server.web.render import fault, render
from bot.server.web.site import site_of
from bot.server.web.views import record
from bot.server.web.views.rows import Row
from bot.store.pages.attention import LISTED_JOBS, JobState
from bot.store.pages.rows import RunFilter

# Above any job's id, and small enough to be compared by both databases.
_MAX_JOB = 2**31
_STATES: tuple[tuple[JobState, str, str], ...] = (
    ("dead", "Dead", "Jobs that failed on every attempt, or permanently. Replay queues a job again."),
    ("doing", "Running", "Jobs that a worker is running."),
    ("todo", "Waiting", "Jobs that start when a worker is free and their issue has no other running job."),
    ("timer", "Later", "Jobs with a time: reminders, the end of a question, the next attempt of a job that failed."),
    ("parked", "On hold", "Jobs that wait until their suspended installation is active again."),
)


def routes() -> list[Route]:
    """Return the routes. They require a login."""
    return [
        Route("/", home),
        Route("/queue", queue),
        Route("/queue/{job:int}/replay", replay, methods=["POST"]),
    ]


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
        questions=[(Row.of(question.run), question) for question in questions],
        ended=[(Row.of(ending.run), ending) for ending in ended],
        lacked=[(lack, describe_limit(lack.code)) for lack in lacked],
        dead=jobs[:5],
        record=record.read(await pages.repositories.outcomes(keys)),
    )


async def queue(request: Request) -> Response:
    """List jobs by state. A viewer sees the jobs of their own repositories."""
    jobs, viewer = site_of(request).store.pages.queue, viewer_of(request)
    counts = await jobs.counts(viewer.repositories)
    shown = [
        (state, title, says, await jobs.listing(state, viewer.repositories))
        for state, title, says in _STATES
        if counts.get(state)
    ]
    replayed = request.query_params.get("replayed", "")
    return render(
        request,
        "queue.html",
        counts=[(state, title, counts.get(state, 0)) for state, title, _ in _STATES],
        shown=shown,
        most=LISTED_JOBS,
        replayed=replayed if replayed.isdigit() else "",
    )


async def replay(request: Request) -> Response:
    """Replay a dead job. Only the operator may do so; ``Shield`` has already refused forms of other sites."""
    must_operate(request)
    job = request.path_params["job"]
    if job >= _MAX_JOB or not await site_of(request).store.jobs.replay(job):
        raise HTTPException(404)
    return RedirectResponse(f"/queue?replayed={job}", 303)


def closed() -> list[Route]:
    """Return the routes of the first start. They answer 410 now that an App exists."""
    return [Route("/setup", _over, methods=["GET", "POST"]), Route("/setup/{rest:path}", _over)]


async def _over(request: Request) -> Response:
    return fault(request, 410)
