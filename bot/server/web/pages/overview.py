"""The pages of what waits for a person, of the jobs, and of the repositories with the accuracy of their reports."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from bot.limits.ceilings import describe_limit
from bot.report.record import ENOUGH, read_record
from bot.runs.promise import fifths, recommend
from bot.server.web.auth.sessions import viewer_of
from bot.server.web.render import render
from bot.server.web.site import repository_of, site_of
from bot.store.pages.overview import JobState, OutcomeRow
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
_TARGET = 0.9
"""Fraction of correct first files that the recommended threshold aims at."""
_PERIODS = 18


async def home(request: Request) -> Response:
    """Show what waits for a person, and the jobs, in the repositories that the viewer may see."""
    pages, keys = site_of(request).store.pages, viewer_of(request).repositories
    # The counts of the list of runs, so that its numbers and these are the same.
    counted = (await pages.runs.counts(RunFilter(), keys)).issues
    questions, ended = await pages.attention.questions(keys), await pages.attention.ended(keys)
    lacked, waiting = await pages.attention.lacked(keys), await pages.queue.counts(keys)
    states = [row for row in _STATES if row[0] in waiting]
    jobs = [(*row, waiting[row[0]], await pages.queue.listing(row[0], keys)) for row in states]
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


async def repositories(request: Request) -> Response:
    """List the repositories that the viewer may see."""
    found = await site_of(request).store.pages.repositories.all(viewer_of(request).repositories)
    return render(request, "repositories.html", repositories=found)


async def repository(request: Request) -> Response:
    """Show one repository."""
    pages, shown = site_of(request).store.pages, await repository_of(request)
    wanted, keys = RunFilter(repository=shown.key), viewer_of(request).repositories
    outcomes = await pages.repositories.outcomes({shown.key})
    pairs = [(outcome.confidence, outcome.rank == 1) for outcome in outcomes if outcome.state == "scored"]
    return render(
        request,
        "repository.html",
        repository=shown,
        all=tally(outcomes),
        claims=tally([outcome for outcome in outcomes if outcome.claimed]),
        months=by_month(outcomes),
        fifths=fifths(pairs),
        threshold=recommend(pairs, _TARGET),
        awaiting=(await pages.runs.counts(wanted, keys)).issues["outcome"].get("awaiting", 0),
        words=read_record(*await site_of(request).store.of_repository(shown.key).outcomes.standing()),
        enough=ENOUGH,
    )


def tally(outcomes: Sequence[OutcomeRow]) -> dict[str, Any]:
    """Count reports: ``scored`` by a fix, the ``first`` file or one of ``three`` fixed, fixes that are ``unknown``."""
    ranks = [outcome.rank for outcome in outcomes if outcome.state == "scored"]
    unknown, three = sum(outcome.state == "unknown" for outcome in outcomes), sum(1 <= rank <= 3 for rank in ranks)
    return {"scored": len(ranks), "first": ranks.count(1), "three": three, "unknown": unknown}


def by_month(outcomes: Sequence[OutcomeRow]) -> list[tuple[str, dict[str, Any]]]:
    """Count the reports of each month; those of older releases, whose months were not recorded, are together."""
    months: dict[str, list[OutcomeRow]] = {}
    for outcome in outcomes:
        if outcome.state != "open":
            at = outcome.settled_at
            months.setdefault(f"{datetime.fromtimestamp(at, UTC):%Y-%m}" if at else "earlier", []).append(outcome)
    return [(name, tally(rows)) for name, rows in list(months.items())[-_PERIODS:]]
