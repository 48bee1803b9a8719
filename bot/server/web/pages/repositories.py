"""The pages of repositories: how accurate the reports of each were."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from bot.report.record import ENOUGH, read_record
from bot.runs.promise import fifths, recommend
from bot.server.web.auth.sessions import viewer_of
from bot.server.web.render import render
from bot.server.web.site import repository_of, site_of
from bot.store.pages.overview import OutcomeRow
from bot.store.pages.rows import RunFilter

_TARGET = 0.9
"""Fraction of correct first files that the recommended threshold aims at."""
_PERIODS = 18


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
    unknown = sum(outcome.state == "unknown" for outcome in outcomes)
    return {
        "scored": len(ranks),
        "first": ranks.count(1),
        "three": sum(1 <= rank <= 3 for rank in ranks),
        "unknown": unknown,
    }


def by_month(outcomes: Sequence[OutcomeRow]) -> list[tuple[str, dict[str, Any]]]:
    """Count the reports of each month; those of older releases, whose months were not recorded, are together."""
    months: dict[str, list[OutcomeRow]] = {}
    for outcome in outcomes:
        if outcome.state != "open":
            at = outcome.settled_at
            months.setdefault(f"{datetime.fromtimestamp(at, UTC):%Y-%m}" if at else "earlier", []).append(outcome)
    return [(name, tally(rows)) for name, rows in list(months.items())[-_PERIODS:]]
