"""Render templates to HTML. All inserted values are escaped."""

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
"""(address, name) of the navigation links that logged-in users see on every page."""


def render(
    request: Request, template: str, *, status: int = 200, headers: dict[str, str] | None = None, **context: Any
) -> HTMLResponse:
    """Render a template of ``templates/``.

    The template gets ``viewer`` (None without a login), ``navigation``, ``here`` (the path) and ``asset(name)`` in
    addition to the given context. The Content-Security-Policy forbids inline styles and scripts, including ``style=``
    attributes.
    """
    shown = {
        "viewer": getattr(request.state, "viewer", None),
        "navigation": NAVIGATION,
        "here": request.url.path,
        **context,
    }
    return HTMLResponse(environment().get_template(template).render(shown), status, headers)


def _seen(value: Any) -> Any:
    """Remove invisible and direction-changing characters from text, which could make a page display something false."""
    return visible(value) if type(value) is str else value


@cache
def environment() -> Environment:
    """Return the Jinja environment: autoescape is always on, and an undefined variable is an error."""
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
