"""Pages of the first start: GitHub registers the App for the person who has the setup token from the log."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import logging
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from itsdangerous import BadData, URLSafeTimedSerializer
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from bot.errors import UserError
from bot.github.registration import NewApp, exchange_code
from bot.server.connections.bodies import read_form
from bot.server.registration import CALLBACK, WEBHOOK, RequestedApp, installation_address, is_local, registration
from bot.server.web.auth.authentication import Attempts
from bot.server.web.render import fault, handlers, render, routes
from bot.server.web.security import Shield, content_policy, same_token

NO_APP = "no App is configured: open /setup with the token in the log"
COOKIE = "triage-setup"
_STATE_LASTS = 3_600
"""Seconds."""
logger = logging.getLogger(__name__)


class Pending:
    """The setup token, the states that were sent to GitHub, and whether the App exists.

    Servers that share a secret accept the same token, and continue each other's registration.
    """

    def __init__(self, secret: bytes | None = None) -> None:
        secret = secret or secrets.token_bytes(32)
        self.token = hmac.new(secret, b"tracehound.setup", hashlib.sha256).hexdigest()[:40]
        self.attempts = Attempts()
        self.over = False
        """The App exists, so the setup pages are closed permanently."""
        signs = {"digest_method": hashlib.sha256}
        self._states = URLSafeTimedSerializer(secret, salt="tracehound.setup", signer_kwargs=signs)
        self._taken: set[str] = set()

    def is_token(self, token: str) -> bool:
        """Return whether this is the setup token from the log."""
        return same_token(token, self.token)

    def has_shown_token(self, request: Request) -> bool:
        """Return whether this browser has shown the token before."""
        return self.is_token(request.cookies.get(COOKIE, ""))

    def state(self, requested: RequestedApp) -> str:
        """Return the state that GitHub sends back with its answer: the requested App, signed."""
        return str(self._states.dumps([secrets.token_urlsafe(8), asdict(requested)]))

    def take(self, state: str) -> RequestedApp | None:
        """Return the requested App of a state that is valid for an hour, and for one answer to this server.

        Of several servers GitHub accepts the code that comes with it once.
        """
        try:
            _, requested = self._states.loads(state, max_age=_STATE_LASTS)
        except BadData:
            return None
        if state in self._taken:
            return None
        self._taken.add(state)
        return RequestedApp(**requested)


@dataclass(frozen=True, slots=True)
class SetupPages:
    """The dependencies of the setup pages."""

    defaults: RequestedApp
    """Initial values of the setup form."""
    finish: Callable[[Request, NewApp, RequestedApp], Awaitable[Response]]
    """Stores a new App, or shows its secrets; returns a page with the next steps; sets ``done`` to end the setup."""
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
    return _filled(request, setup.defaults.filled(_here(request), request.query_params))


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
    shown = setup.pending.has_shown_token(request)
    requested = setup.pending.take(request.query_params.get("state", "")) if shown else None
    if requested is None:
        return _failed(request, 400, "This response belongs to no registration that was started here.")
    try:
        app = await exchange_code(requested.api_url, request.query_params.get("code", ""))
        response = await setup.finish(request, app, requested)
    except UserError as error:
        logger.warning("no App was registered: %s", error, extra={"action": "setup_failed"})
        return _failed(request, 502, f"{error}.")
    # Only now: after a failure the person may start again.
    setup.pending.over = True
    logger.info("the App %s is registered", app.slug, extra={"action": "app_registered"})
    return response


def _failed(request: Request, status: int, message: str) -> Response:
    return render(request, "setup/failed.html", status=status, message=message)


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


def _filled(request: Request, requested: RequestedApp) -> Response:
    """Show the form, which can be submitted if GitHub can be asked for this App."""
    shown, headers = {"message": requested.fault(), "action": "", "manifest": ""}, {}
    if not shown["message"]:
        state = _setup(request).pending.state(requested)
        shown |= {"action": requested.address(state), "manifest": requested.manifest()}
        # The form is submitted to GitHub, which the default form-action 'self' would block.
        server = urlsplit(requested.server_url)
        headers["content-security-policy"] = content_policy(form_action=f"'self' {server.scheme}://{server.netloc}")
    return render(
        request,
        "setup/form.html",
        status=422 if shown["message"] else 200,
        headers=headers,
        requested=requested,
        asked=registration(),
        local=is_local(requested.webhook_url),
        **shown,
    )


def _setup(request: Request) -> SetupPages:
    setup: SetupPages = request.app.state.setup
    return setup


def _here(request: Request) -> str:
    """Return the address by which this browser reaches the server.

    The request's headers are trusted here, because the browser has shown the token.
    """
    scheme = "https" if request.headers.get("x-forwarded-proto") == "https" else request.url.scheme
    return f"{scheme}://{request.url.netloc}"


async def _healthz(_request: Request) -> Response:
    return PlainTextResponse("ok\n")


async def _not_ready(_request: Request) -> Response:
    return JSONResponse({"ready": False}, 503)


def made(
    request: Request, app: NewApp, requested: RequestedApp, *, kept: Path | None = None, values: Mapping[str, str] = {}
) -> Response:
    """Return the page with the next steps; with the place of the stored secrets, or with the secrets themselves."""
    return render(
        request,
        "setup/made.html",
        slug=app.slug,
        install=installation_address(requested.server_url, app.slug),
        webhook=requested.webhook_url,
        local=is_local(requested.webhook_url),
        kept=kept,
        values=values,
        # The server stops listening now, and the next request of the browser is for its successor.
        headers={"connection": "close"},
    )
