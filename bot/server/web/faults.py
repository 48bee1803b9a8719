"""Error responses. They contain the status and a fixed sentence, no details."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from bot.server.web.render import render

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
