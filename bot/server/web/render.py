"""Render templates to HTML with all values escaped, and serve static files under addresses with a hash."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from bot.report.sanitise import visible
from bot.report.words import percent
from bot.runs.promise import wilson
from bot.server.web.views.words import label, line, moment, prose

_FOLDER = Path(__file__).parent / "static"
_KINDS = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
}
# The address contains a hash of the content, so changed content has another address.
_FOR_EVER = "public, max-age=31536000, immutable"
NAVIGATION: tuple[tuple[str, str], ...] = (
    ("/", "Overview"),
    ("/runs", "Runs"),
    ("/repositories", "Repositories"),
)
"""(address, name) of the navigation links that logged-in users see on every page."""
_WHOLE = 24
"""Characters at the end of a path that stay on one line, so that no line break splits a short name or its ending."""
_MESSAGES = {
    401: "Log in first.",
    403: "You are not allowed to do this.",
    404: "Page not found, or you may not see it.",
    405: "This method is not allowed here.",
    410: "This page is no longer available.",
    429: "Too many attempts. Wait a few minutes.",
    503: "The service is temporarily unavailable. Try again in a moment.",
}
_OURS = "Internal error. See the server's log."
Handler = Callable[[Request, Exception], Awaitable[Response]]


@cache
def asset(name: str) -> str:
    """Return the address of a file in ``static/``. Browsers may cache it without expiry.

    Raises:
        KeyError: the file does not exist.
    """
    return f"/assets/{_files()[name][0]}/{name}"


def routes() -> list[Route]:
    """Return the asset route. Assets contain no private data, so they need no login."""
    return [Route("/assets/{hash}/{name}", _serve)]


async def _serve(request: Request) -> Response:
    known, body = _files().get(request.path_params["name"], ("", b""))
    # A wrong hash gets 404: browsers would cache other content under this address without expiry.
    if not known or request.path_params["hash"] != known:
        return Response("not found\n", 404, media_type="text/plain")
    kind = _KINDS[Path(request.path_params["name"]).suffix]
    return Response(body, headers={"cache-control": _FOR_EVER}, media_type=kind)


@cache
def _files() -> dict[str, tuple[str, bytes]]:
    """Map each file name to (hash, content). Files are read once per process."""
    found = {path.name: path.read_bytes() for path in _FOLDER.iterdir() if path.suffix in _KINDS}
    return {name: (hashlib.sha256(body).hexdigest()[:16], body) for name, body in found.items()}


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


def share(part: int, whole: int, nothing: str = "—") -> str:
    """Return a fraction as a percentage; ``nothing`` without cases."""
    return percent(part / whole) if whole else nothing


def between(right: int, cases: int) -> str:
    """Return the interval of a fraction at 95 % in words; empty without cases."""
    low, high = wilson(right, cases)
    return f"{low:.0%} to {high:.0%}" if cases else ""


def file_name(path: str) -> Markup:
    """Return a path that breaks after slashes, and before its last characters if the file's name is long."""
    *folders, name = visible(path).split("/")
    cut = 0 if len(name) <= _WHOLE else len(name) - _WHOLE // 2
    whole = Markup('{}<span class="whole">{}</span>').format(name[:cut], name[cut:])
    return Markup("/<wbr>").join([*map(escape, folders), whole])


@cache
def environment() -> Environment:
    """Return the Jinja environment: autoescape is always on, and an undefined variable is an error."""
    # ``finalize`` applies to every value in every template, so that no template can forget it.
    made = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        finalize=_seen,
    )
    made.globals |= {"asset": asset, "share": share, "between": between}
    made.filters |= {"file": file_name, "prose": prose, "line": line, "label": label, "moment": moment}
    return made


def handlers() -> dict[int | type[Exception], Handler]:
    """Return the exception handlers for Starlette."""
    return {HTTPException: _refused, Exception: _failed}


def wants_page(request: Request) -> bool:
    """Return whether the client is a browser that accepts HTML, rather than a program."""
    return "text/html" in request.headers.get("accept", "")


def fault(request: Request, status: int, headers: dict[str, str] | None = None) -> Response:
    """Return the response for a status: an HTML page for a browser, JSON for other clients."""
    message = _MESSAGES.get(status, _OURS if status >= 500 else "The request is not valid.")
    if wants_page(request):
        return render(request, "fault.html", status=status, headers=headers, code=status, message=message)
    return JSONResponse({"error": message}, status, headers)


async def _refused(request: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):
        raise error
    # These statuses have no body.
    if error.status_code in (204, 304):
        return Response(status_code=error.status_code, headers=error.headers)
    return fault(request, error.status_code, dict(error.headers or {}))


async def _failed(request: Request, _error: Exception) -> Response:
    return fault(request, 500)
