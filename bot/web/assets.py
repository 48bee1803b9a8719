"""Style sheets, scripts and images, served under addresses that contain a hash of their content."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

_FOLDER = Path(__file__).parent / "static"
_KINDS = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
}
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
