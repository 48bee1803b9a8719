"""Render templates to HTML with all values escaped, and serve static files under addresses with a hash."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from bot.report.sanitise import visible

_FOLDER = Path(__file__).parent / "static"
_KINDS = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
}
# The address contains a hash of the content, so changed content has another address.
_FOR_EVER = "public, max-age=31536000, immutable"


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


NAVIGATION: tuple[tuple[str, str], ...] = (
    ("/", "Overview"),
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


_WHOLE = 24
"""Characters at the end of a path that stay on one line, so that no line break splits a short name or its ending."""


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
    made.globals["asset"] = asset
    made.filters["file"] = file_name
    return made
