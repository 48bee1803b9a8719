"""The list of runs."""

from collections.abc import Mapping
from typing import Any, get_args
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from bot.server.web.auth.sessions import viewer_of
from bot.server.web.render import OUTCOMES, render
from bot.server.web.site import site_of
from bot.store.pages.rows import ListPosition, RunFilter
from bot.store.pages.runs import COUNTED
from bot.store.runs.rows import RunStatus

Form = Mapping[str, tuple[str, Mapping[str, str] | None]]
"""The fields of the form: their labels, and their values with the names of these; None for a part of the title."""
_MAX_VALUE = 200
_MAX_RUNS, _LATEST = 2**31, 1e11
"""Upper bounds of run numbers and times (seconds since 1970), so that both databases can compare them."""


async def listed(request: Request) -> Response:
    """List the issues with runs that match the requested filter, the newest run first."""
    runs, keys = site_of(request).store.pages.runs, viewer_of(request).repositories
    seen = repr(await runs.last_change(keys))
    form, fields, ignored, wanted = await _asked(request)
    counts = await runs.counts(wanted, keys)
    return render(
        request,
        "runs.html",
        counts=counts,
        counted=COUNTED,
        form=form,
        fields=fields,
        ignored=ignored,
        query=lambda **other: urlencode({name: value for name, value in (fields | other).items() if value}),
        before=request.query_params.get("before", ""),
        seen=seen,
        **await _rows(request, wanted),
    )


async def changed(request: Request) -> Response:
    """Return the rows of the list: 204 if no run changed since ``seen``."""
    seen = repr(await site_of(request).store.pages.runs.last_change(viewer_of(request).repositories))
    if request.query_params.get("seen") == seen:
        return Response(status_code=204)
    *_, wanted = await _asked(request)
    return render(request, "runs_table.html", headers={"X-Seen": seen}, **await _rows(request, wanted))


async def _rows(request: Request, wanted: RunFilter) -> dict[str, Any]:
    """Return the newest matching run of each issue on the page, and the position of the next page."""
    before = _read_place(request.query_params.get("before", ""))
    runs, keys = site_of(request).store.pages.runs, viewer_of(request).repositories
    rows, older = await runs.listing(wanted, keys, before=before)
    return {"rows": rows, "older": f"{older.began_at!r}~{older.issue_key}~{older.number}" if older else ""}


async def _asked(request: Request) -> tuple[Form, dict[str, str], list[str], RunFilter]:
    """Return the form, its given values, the names of the fields whose values are not valid, and the filter."""
    repositories = await site_of(request).store.pages.repositories.all(viewer_of(request).repositories)
    form: Form = {
        "q": ("Title", None),
        "repository": ("Repository", {repo.full_name: repo.full_name for repo in repositories}),
        "status": ("Status", {status: status for status in get_args(RunStatus)}),
        "outcome": ("Outcome", {str(outcome): name for outcome, name in OUTCOMES.items()}),
    }
    given = {name: request.query_params.get(name, "").strip()[:_MAX_VALUE] for name in form}
    allowed = {name: options for name, (_, options) in form.items() if options is not None}
    fields = {name: value for name, value in given.items() if value and value in allowed.get(name, (value,))}
    wanted = RunFilter(
        repository=next((repo.key for repo in repositories if repo.full_name == fields.get("repository")), ""),
        status=fields.get("status", ""),
        text=fields.get("q", ""),
        outcome=fields.get("outcome", ""),
    )
    return form, fields, [name for name, value in given.items() if value and name not in fields], wanted


def _read_place(text: str) -> ListPosition | None:
    """Parse the position of a page in the list from a URL; None if it is invalid."""
    began_at, _, rest = text.partition("~")
    issue_key, _, number = rest.rpartition("~")
    try:
        at = ListPosition(float(began_at), issue_key, int(number))
    except ValueError:
        return None
    return at if 0 <= at.number < _MAX_RUNS and 0 <= at.began_at < _LATEST else None
