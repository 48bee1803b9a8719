"""Templates become pages; whatever is put into one is escaped."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse

from bot.report.sanitise import visible
from bot.web.assets import asset

NAVIGATION: tuple[tuple[str, str], ...] = (
    ("/runs", "Runs"),
    ("/repositories", "Repositories"),
    ("/queue", "Queue"),
)
"""(address, name) of the pages at the top of each, for whoever is logged in."""


def render(
    request: Request, template: str, *, status: int = 200, headers: dict[str, str] | None = None, **context: Any
) -> HTMLResponse:
    """Fill a template of ``templates/``.

    It sees ``viewer`` (None without a login), ``navigation``, ``here`` (the path) and ``asset(name)`` besides what is
    given. The policy forbids inline styles and scripts, ``style=`` attributes too.
    """
    shown = {
        "viewer": getattr(request.state, "viewer", None),
        "navigation": NAVIGATION,
        "here": request.url.path,
        **context,
    }
    return HTMLResponse(environment().get_template(template).render(shown), status, headers)


def _seen(value: Any) -> Any:
    """Text without what cannot be seen, or turns the line round: it would make a page say what it does not."""
    return visible(value) if type(value) is str else value


@cache
def environment() -> Environment:
    """Jinja with autoescape always, and a blank that nobody filled is a fault."""
    made = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        finalize=_seen,
    )
    made.globals["asset"] = asset
    return made
