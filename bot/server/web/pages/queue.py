"""The job queue: waiting, running, parked and dead jobs."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from bot.server.web.auth.sessions import must_operate, viewer_of
from bot.server.web.render import render
from bot.server.web.site import site_of
from bot.server.web.views.words import line, moment
from bot.store.pages.runs import LISTED_JOBS, JobRow, JobState

# Above any job's id, and small enough to be compared by both databases.
_LARGEST = 2**31
_STATES: tuple[tuple[JobState, str, str], ...] = (
    ("dead", "Dead", "Jobs that failed on every attempt, or permanently. Replay queues a job again."),
    ("doing", "Running", "Jobs that a worker is running."),
    ("todo", "Waiting", "Jobs that start when a worker is free and their issue has no other running job."),
    ("timer", "Later", "Jobs with a time: reminders, the end of a question, the next attempt of a job that failed."),
    ("parked", "On hold", "Jobs that wait until their suspended installation is active again."),
)


def routes() -> list[Route]:
    """Return the routes. They require a login."""
    return [Route("/queue", listed), Route("/queue/{job:int}/replay", replay, methods=["POST"])]


async def listed(request: Request) -> Response:
    """List jobs by state. A viewer sees the jobs of their own repositories."""
    queue, viewer = site_of(request).store.pages.queue, viewer_of(request)
    counts = await queue.counts(viewer.repositories)
    shown = [
        (state, title, says, [_row(job) for job in await queue.listing(state, viewer.repositories)])
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
    if job >= _LARGEST or not await site_of(request).store.jobs.replay(job):
        raise HTTPException(404)
    return RedirectResponse(f"/queue?replayed={job}", 303)


def _row(job: JobRow) -> dict[str, object]:
    return {
        "job": job,
        "kind": job.kind.replace("_", " "),
        "repository": f"{job.owner}/{job.name}" if job.owner else "",
        "due": moment(job.due),
        "stored": moment(job.stored_at),
        "message": line(job.message),
    }
