"""The login that every page requires: with the operator's token or a GitHub account; and the logout."""

import base64
import hashlib
import hmac
import secrets
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from bot.errors import RetryableError
from bot.github.registration import LoggedOutError
from bot.server.connections.bodies import read_form
from bot.server.registration import LOGIN_CALLBACK
from bot.server.web.auth.authentication import Accounts, Authenticator
from bot.server.web.render import fault, render, wants_page
from bot.server.web.site import site_of


class RequireLogin:
    """Middleware that passes only authenticated requests and sets ``request.state.viewer``."""

    def __init__(self, app: ASGIApp, authenticator: Authenticator) -> None:
        self._app = app
        self._authenticator = authenticator

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        request = Request(scope, receive)
        viewer = await self._authenticator.viewer(request)
        if viewer is None:
            await request_login(request)(scope, receive, send)
            return
        request.state.viewer = viewer
        await self._app(scope, receive, send)


def request_login(request: Request) -> Response:
    """Ask for a login. The answer is the same for every path, so it does not reveal which paths exist."""
    if not wants_page(request):
        return fault(request, 401, {"www-authenticate": "Bearer"})
    # A form cannot be repeated after the login, so the browser is not sent back to it.
    if request.method != "GET":
        return RedirectResponse("/login", 303)
    target = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    return RedirectResponse("/login" if target == "/" else f"/login?next={quote(target, safe='')}", 303)


async def show(request: Request) -> Response:
    """Show the login form."""
    return login_form(request, request.query_params.get("next", "/"))


async def log_in(request: Request) -> Response:
    """Log in with the operator's token."""
    form = await read_form(request)
    authenticator, wanted = site_of(request).authenticator, form.get("next", "/")
    if not authenticator.is_operator(request, form.get("token", "").strip()):
        return login_form(request, wanted, status=403, message="That is not the operator's token.")
    response = RedirectResponse(own_path(wanted), 303)
    authenticator.log_in(request, response)
    return response


async def log_out(request: Request) -> Response:
    """End the session."""
    response = RedirectResponse("/login", 303)
    await site_of(request).authenticator.log_out(request, response)
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


async def begin_github_login(request: Request) -> Response:
    """Redirect the browser to GitHub's authorization page."""
    # The verifier stays in the browser's cookie: a code that is intercepted on the way is useless without it.
    state, verifier = secrets.token_urlsafe(24), secrets.token_urlsafe(48)
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    address = _accounts(request).people.address(state=state, challenge=challenge, redirect_uri=_redirect_uri(request))
    response = RedirectResponse(address, 303)
    state_data = {"state": state, "verifier": verifier, "next": own_path(request.query_params.get("next", "/"))}
    site_of(request).authenticator.oauth_states.write(request, response, state_data)
    return response


async def complete_github_login(request: Request) -> Response:
    """Complete the login if the browser started it here."""
    authenticator, accounts = site_of(request).authenticator, _accounts(request)
    state_data = authenticator.oauth_states.read(request) or {}
    # The state binds the answer to the browser that started the login; this prevents login CSRF (RFC 6749, 10.12).
    state = request.query_params.get("state", "")
    if not state_data or not hmac.compare_digest(state.encode(), str(state_data["state"]).encode()):
        return login_form(request, "/", status=400, message="This login was not started in this browser. Try again.")
    if accounts.in_progress.locked():
        raise RetryableError("too many logins at once")
    try:
        async with accounts.in_progress:
            token = await accounts.people.token(
                request.query_params.get("code", ""),
                verifier=state_data["verifier"],
                redirect_uri=_redirect_uri(request),
            )
            login = await accounts.log_in(token)
    except LoggedOutError:
        return login_form(request, state_data["next"], status=403, message="GitHub did not log you in.")
    response = RedirectResponse(state_data["next"], 303)
    # Each state is valid for one login.
    authenticator.oauth_states.forget(request, response)
    authenticator.sessions.write(request, response, login)
    return response


def _accounts(request: Request) -> Accounts:
    accounts = site_of(request).authenticator.accounts
    if accounts is None:
        raise RuntimeError("there are no accounts")  # routes() adds these routes only with accounts
    return accounts


def _redirect_uri(request: Request) -> str:
    return site_of(request).address(request) + LOGIN_CALLBACK
