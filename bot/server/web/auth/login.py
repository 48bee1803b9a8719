"""Login and logout."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from bot.errors import RetryableError
from bot.server.web.auth.authentication import TooManyError
from bot.server.web.faults import fault
from bot.server.web.forms import read_form
from bot.server.web.render import render
from bot.server.web.site import site_of


def routes() -> list[Route]:
    """Return the public login routes."""
    return [
        Route("/login", show),
        Route("/login", log_in, methods=["POST"]),
        Route("/logout", log_out, methods=["POST"]),
    ]


async def show(request: Request) -> Response:
    """Show the login form."""
    return login_form(request, request.query_params.get("next", "/"))


async def log_in(request: Request) -> Response:
    """Log in with the operator's token."""
    form = await read_form(request)
    authenticator, wanted = site_of(request).authenticator, form.get("next", "/")
    try:
        right = authenticator.is_operator(request, form.get("token", "").strip())
    except TooManyError:
        return fault(request, 429)
    if not right:
        return login_form(request, wanted, status=403, message="That is not the operator's token.")
    response = RedirectResponse(own_path(wanted), 303)
    authenticator.log_in(request, response)
    return response


async def log_out(request: Request) -> Response:
    """End the session."""
    response = RedirectResponse("/login", 303)
    try:
        await site_of(request).authenticator.log_out(request, response)
    except RetryableError:
        return fault(request, 503)
    return response


def own_path(wanted: str) -> str:
    r"""Return the path to show after the login. A target outside this server is replaced by ``/``.

    Browsers treat ``//host`` and ``/\host`` as addresses of another host, so both are rejected.
    """
    ours = wanted.startswith("/") and not wanted.startswith(("//", "/\\")) and wanted.isprintable()
    return wanted if ours else "/"


def login_form(request: Request, wanted: str, *, status: int = 200, message: str = "") -> Response:
    """Show the login form with the configured login methods."""
    authenticator = site_of(request).authenticator
    ways = {"token": authenticator.accepts_tokens, "github": authenticator.accounts is not None}
    return render(request, "login.html", status=status, wanted=own_path(wanted), message=message, ways=ways)
