"""Pages of the first start: GitHub registers the App for the person who has the setup token from the log."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from bot.errors import UserError
from bot.github.registration import NewApp, exchange_code
from bot.server.connections.bodies import read_form
from bot.server.registration import (
    CALLBACK,
    WEBHOOK,
    RequestedApp,
    api_of,
    installation_address,
    is_local,
    registration,
)
from bot.server.web.auth.setup_token import COOKIE, Pending
from bot.server.web.render import fault, handlers, render, routes
from bot.server.web.security import Shield, content_policy

NO_APP = "no App is configured: open /setup with the token in the log"
_HANDOVER = 0.5
"""Seconds that the setup server needs to stop listening after it is done."""
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Defaults:
    """Initial values of the setup form."""

    server_url: str
    api_url: str
    """Address of that server's API."""
    public_url: str
    """Empty to use the address by which the browser reached the server."""
    name: str
    owner: str = ""
    webhook_url: str = ""
    """Empty to send deliveries to the public address."""
    keep: bool = True

    def requested(self, here: str, form_fields: Mapping[str, str]) -> RequestedApp:
        """Build the requested App from the form's fields."""
        public = (self.public_url or here).rstrip("/")
        return RequestedApp(
            here=here,
            public_url=public,
            webhook_url=form_fields.get("webhook_url", self.webhook_url).strip() or f"{public}/webhooks/github",
            server_url=(form_fields.get("server_url", "").strip() or self.server_url).rstrip("/"),
            owner=form_fields.get("owner", self.owner).strip(),
            name=form_fields.get("name", "").strip() or self.name,
            keep=form_fields.get("keep", "yes" if self.keep else "no") == "yes",
        )


@dataclass(frozen=True, slots=True)
class SetupPages:
    """The dependencies of the setup pages."""

    defaults: Defaults
    finish: Callable[[Request, NewApp, RequestedApp, str], Awaitable[Response]]
    """Stores a new App, or shows its secrets, and returns a page with the next steps; sets ``done`` to end the setup.

    Takes the request, the new App, the request it was made for, and the address of the API that returned it.
    """
    pending: Pending = field(default_factory=Pending)
    done: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the setup is complete."""


def setup_app(setup: SetupPages) -> ASGIApp:
    """Build the setup application. It has no access to repositories and can register one App once."""
    served = [
        Route("/", landing),
        Route("/healthz", _healthz),
        Route("/readyz", _not_ready),
        Route("/setup", form),
        Route("/setup", accept_token, methods=["POST"]),
        Route(CALLBACK, complete_registration),
        Route("/welcome", _soon),
        *routes(),
    ]
    starlette = Starlette(routes=served, exception_handlers=handlers())
    starlette.state.setup = setup
    pages, no_app = Shield(starlette, setup.defaults.public_url), JSONResponse({"error": NO_APP}, 503)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        # Deliveries have no browser headers, so the shield would answer 403 instead of naming the cause.
        target = no_app if scope.get("path") == WEBHOOK else pages
        await target(scope, receive, send)

    return app


async def landing(request: Request) -> Response:
    """Show what the server is and how to start."""
    return render(request, "setup/landing.html", over=_setup(request).pending.over)


async def form(request: Request) -> Response:
    """Show the App to be registered, with the button that submits it to GitHub."""
    setup = _setup(request)
    if setup.pending.over:
        return fault(request, 410)
    if "token" in request.query_params:
        return _take(request, request.query_params["token"])
    if not setup.pending.has_shown_token(request):
        return render(request, "setup/token.html", status=401, wrong=False)
    requested = setup.defaults.requested(_here(request), request.query_params)
    try:
        requested.check()
    except UserError as error:
        return render(
            request, "setup/form.html", status=422, requested=requested, message=str(error), **_shown(requested)
        )
    return _ready(request, requested)


async def accept_token(request: Request) -> Response:
    """Accept the token from the token form."""
    if _setup(request).pending.over:
        return fault(request, 410)
    return _take(request, (await read_form(request)).get("token", "").strip())


async def complete_registration(request: Request) -> Response:
    """Handle GitHub's redirect after it made the App: exchange the code, once."""
    setup = _setup(request)
    if setup.pending.over:
        return fault(request, 410)
    requested = (
        setup.pending.take(request.query_params.get("state", "")) if setup.pending.has_shown_token(request) else None
    )
    if requested is None:
        return render(
            request,
            "setup/failed.html",
            status=400,
            message="This response belongs to no registration that was started here.",
        )
    api = setup.defaults.api_url if requested.server_url == setup.defaults.server_url else api_of(requested.server_url)
    try:
        app = await exchange_code(api, request.query_params.get("code", ""))
        response = await setup.finish(request, app, requested, api)
    except UserError as error:
        logger.warning("no App was registered: %s", error, extra={"action": "setup_failed"})
        return render(request, "setup/failed.html", status=502, message=f"{error}.")
    # Only now: after a failure the person may start again.
    setup.pending.over = True
    logger.info("the App %s is registered", app.slug, extra={"action": "app_registered"})
    return response


def _take(request: Request, token: str) -> Response:
    pending, address = _setup(request).pending, request.client.host if request.client else ""
    # The correct token is checked first, so other clients' attempts cannot lock the operator out.
    if not pending.is_token(token):
        if pending.attempts.is_blocked(address):
            return fault(request, 429)
        pending.attempts.record_failure(address)
        return render(request, "setup/token.html", status=403, wrong=True)
    response = RedirectResponse("/setup", 303)
    secure = _here(request).startswith("https:")
    # Lax, because GitHub's redirect to the callback must carry this cookie.
    response.set_cookie(COOKIE, token, path="/setup", secure=secure, httponly=True, samesite="lax")
    return response


def _ready(request: Request, requested: RequestedApp) -> Response:
    state = _setup(request).pending.remember(requested)
    # The form is submitted to GitHub, which the default form-action 'self' would block.
    server = urlsplit(requested.server_url)
    policy = content_policy(form_action=f"'self' {server.scheme}://{server.netloc}")
    shown: dict[str, Any] = {
        "message": "",
        "action": requested.address(state),
        "manifest": requested.manifest(),
        **_shown(requested),
    }
    return render(request, "setup/form.html", headers={"content-security-policy": policy}, requested=requested, **shown)


def _shown(requested: RequestedApp) -> dict[str, Any]:
    return {"asked": registration(), "local": is_local(requested.webhook_url)}


def _setup(request: Request) -> SetupPages:
    setup: SetupPages = request.app.state.setup
    return setup


def _here(request: Request) -> str:
    """Return the address by which this browser reaches the server.

    The request's headers are trusted here, because the browser has shown the token.
    """
    scheme = "https" if request.headers.get("x-forwarded-proto") == "https" else request.url.scheme
    return f"{scheme}://{request.url.netloc}"


async def _soon(request: Request) -> Response:
    """Answer a browser that requests the page before this server has stopped listening.

    The delay and the closed connection make its next request reach the real server, which takes over the socket.
    """
    if not _setup(request).done.is_set():
        return RedirectResponse("/", 303)
    await asyncio.sleep(_HANDOVER)
    return RedirectResponse("/welcome", 303, {"connection": "close"})


async def _healthz(_request: Request) -> Response:
    return PlainTextResponse("ok\n")


async def _not_ready(_request: Request) -> Response:
    return JSONResponse({"ready": False}, 503)


def next_steps(app: NewApp, requested: RequestedApp) -> dict[str, Any]:
    """Return the template values that describe the next steps."""
    install = installation_address(requested.server_url, app.slug)
    return {
        "slug": app.slug,
        "install": install,
        "webhook": requested.webhook_url,
        "local": is_local(requested.webhook_url),
    }


__all__ = ["SetupPages", "setup_app"]
