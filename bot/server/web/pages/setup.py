"""Pages of the first start: GitHub registers the App for the person who has the setup token from the log."""

import asyncio
import hashlib
import hmac
import logging
import secrets
from dataclasses import asdict, dataclass, field
from typing import Any
from urllib.parse import urlsplit

from itsdangerous import BadData, URLSafeTimedSerializer
from pydantic import SecretStr
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from bot.errors import UserError
from bot.github.registration import NewApp, exchange_code
from bot.server.connections.bodies import read_form
from bot.server.registration import (
    CALLBACK,
    WEBHOOK,
    RequestedApp,
    installation_address,
    is_local,
    registration,
    store_registration,
)
from bot.server.web.auth.authentication import WrongTokens
from bot.server.web.render import ASSETS, FAILURES, answer_failure, fault, healthz, render, serve_asset
from bot.server.web.security import Shield, content_policy, same_token
from bot.server.web.site import build_authenticator
from bot.settings.environment import Settings

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
        self.attempts = WrongTokens()
        self.over = False
        """The App exists, so the setup pages are closed permanently."""
        signs = {"digest_method": hashlib.sha256}
        self._states = URLSafeTimedSerializer(secret, salt="tracehound.setup", signer_kwargs=signs)
        self._taken: set[str] = set()

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

    settings: Settings
    defaults: RequestedApp
    """Initial values of the setup form."""
    printed: list[str] | None = None
    """Receives what a terminal shows at the end; None if the pages show it."""
    pending: Pending = field(default_factory=Pending)
    done: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the setup is complete."""


def setup_app(setup: SetupPages) -> ASGIApp:
    """Build the setup application. It has no access to repositories and can register one App once."""
    served = [
        Route("/", landing),
        Route("/healthz", healthz),
        Route("/readyz", _not_ready),
        Route("/setup", form),
        Route("/setup", accept_token, methods=["POST"]),
        Route(CALLBACK, complete_registration),
        Route(ASSETS, serve_asset),
    ]
    starlette = Starlette(routes=served, exception_handlers=dict.fromkeys(FAILURES, answer_failure))
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
    if not _has_shown_token(request):
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
    shown = _has_shown_token(request)
    requested = setup.pending.take(request.query_params.get("state", "")) if shown else None
    if requested is None:
        return _failed(request, 400, "This response belongs to no registration that was started here.")
    try:
        app = await exchange_code(requested.api_url, request.query_params.get("code", ""))
        response = _finish(request, app, requested)
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
    pending = _setup(request).pending
    # The correct token is checked first, so other clients' attempts cannot lock the operator out.
    if not same_token(token, pending.token):
        pending.attempts.check(request)
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


def _has_shown_token(request: Request) -> bool:
    """Return whether this browser has shown the token before."""
    return same_token(request.cookies.get(COOKIE, ""), _setup(request).pending.token)


def _setup(request: Request) -> SetupPages:
    setup: SetupPages = request.app.state.setup
    return setup


def _here(request: Request) -> str:
    """Return the address by which a browser reaches the server; its token makes the headers trustworthy."""
    scheme = "https" if request.headers.get("x-forwarded-proto") == "https" else request.url.scheme
    return f"{scheme}://{request.url.netloc}"


async def _not_ready(_request: Request) -> Response:
    return JSONResponse({"ready": False}, 503)


def _finish(request: Request, app: NewApp, requested: RequestedApp) -> Response:
    """Store the App's secrets and log its creator in, or show them once; return the page with the next steps."""
    setup, install = _setup(request), installation_address(requested.server_url, app.slug)
    values = values_of(app, requested, setup.settings)
    kept = store_registration(setup.settings.triage_data_dir, values) if requested.keep else None
    if setup.printed is not None:
        secrets_of = ("{}={}".format(name.upper(), value.replace("\n", "\\n")) for name, value in values.items())
        stored = (f"{app.slug} is registered; its secrets are in {kept}", "Next: triage serve")
        setup.printed.extend((*(stored if kept else secrets_of), f"Install it: {install}"))
    on_page = setup.printed is None
    response = render(
        request,
        "setup/made.html",
        slug=app.slug,
        install=install,
        webhook=requested.webhook_url,
        local=is_local(requested.webhook_url),
        kept=kept if on_page else None,
        values=values if on_page and not kept else {},
        # The server stops listening now, and the next request of the browser is for its successor.
        headers={"connection": "close"},
    )
    if kept and on_page:
        # The cookie has to fit the settings that the server reads when it starts with these values.
        given: dict[str, Any] = {name: values[name] for name in values if name == "triage_public_url"}
        if "triage_admin_token" in values:
            given["triage_admin_token"] = SecretStr(values["triage_admin_token"])
        build_authenticator(setup.settings.model_copy(update=given)).log_in(request, response)
    if kept or not on_page:
        setup.done.set()
    return response


def values_of(app: NewApp, requested: RequestedApp, settings: Settings) -> dict[str, str]:
    """Return the settings of a registered App, and a new operator token if none is set."""
    values = {
        "github_app_id": str(app.id),
        "github_private_key": app.private_key,
        "github_webhook_secret": app.webhook_secret,
        "github_client_id": app.client_id,
        "github_client_secret": app.client_secret,
        "github_server_url": requested.server_url,
        "github_api_url": requested.api_url,
    }
    if settings.triage_public_url is None and not is_local(requested.public_url):
        values["triage_public_url"] = requested.public_url
    if settings.triage_admin_token is None:
        values["triage_admin_token"] = secrets.token_urlsafe(24)
    return values
