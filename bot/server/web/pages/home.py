"""Show what waits for a person, and the jobs that are not done."""

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from bot.limits.ceilings import describe_limit
from bot.server.web.auth.sessions import viewer_of
from bot.server.web.pages.repositories import by_month, tally
from bot.server.web.render import render
from bot.server.web.site import site_of
from bot.store.pages.overview import JobState
from bot.store.pages.rows import RunFilter

# Above any job's id, and small enough to be compared by both databases.
_MAX_JOB = 2**31
_STATES: tuple[tuple[JobState, str, str], ...] = (
    ("dead", "Dead jobs", "Jobs that failed on every attempt, or permanently. Replay queues a job again."),
    ("doing", "Running jobs", "Jobs that a worker is running."),
    ("todo", "Waiting jobs", "Jobs that start when a worker is free and their issue has no other running job."),
    (
        "timer",
        "Later jobs",
        "Jobs with a time: reminders, the end of a question, the next attempt of a job that failed.",
    ),
    ("parked", "Jobs on hold", "Jobs that wait until their suspended installation is active again."),
)


async def home(request: Request) -> Response:
    """Show what waits for a person, and the jobs, in the repositories that the viewer may see."""
    pages, keys = site_of(request).store.pages, viewer_of(request).repositories
    # The counts of the list of runs, so that its numbers and these are the same.
    counted = (await pages.runs.counts(RunFilter(), keys)).issues
    questions, ended = await pages.attention.questions(keys), await pages.attention.ended(keys)
    lacked, waiting = await pages.attention.lacked(keys), await pages.queue.counts(keys)
    jobs = [(*one, waiting[one[0]], await pages.queue.listing(one[0], keys)) for one in _STATES if one[0] in waiting]
    outcomes = await pages.repositories.outcomes(keys)
    replayed = request.query_params.get("replayed", "")
    figures = (
        ("Questions", counted["status"].get("waiting", 0), "/runs?status=waiting"),
        ("Stopped or failed", len(ended), "#ended"),
        ("Missing permissions", len(lacked), "#permissions"),
        ("Dead jobs", waiting.get("dead", 0), "#dead-title"),
        ("Awaiting a fix", counted["outcome"].get("awaiting", 0), "/runs?outcome=awaiting"),
    )
    return render(
        request,
        "home.html",
        figures=figures,
        questions=questions,
        ended=ended,
        lacked=[(lack, describe_limit(lack.code)) for lack in lacked],
        dead="dead" in waiting,
        jobs=jobs,
        replayed=replayed if replayed.isdigit() else "",
        all=tally(outcomes),
        months=by_month(outcomes),
    )


async def replay(request: Request) -> Response:
    """Replay a dead job. Only the operator may do so; ``Shield`` has already refused forms of other sites."""
    job = request.path_params["job"]
    # As if the page did not exist.
    if not viewer_of(request).is_operator or job >= _MAX_JOB or not await site_of(request).store.jobs.replay(job):
        raise HTTPException(404)
    return RedirectResponse(f"/?replayed={job}", 303)
