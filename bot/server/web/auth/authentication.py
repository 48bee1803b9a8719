"""Authentication: no data about a repository is shown, streamed or implied before the login."""

from __future__ import annotations

import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from hashlib import sha256
from typing import Any
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from bot.errors import RetryableError
from bot.server.connections import Refusals
from bot.server.web.auth.accounts import Accounts
from bot.server.web.auth.sessions import LASTS, Sessions, Viewer
from bot.server.web.render import fault, wants_page
from bot.server.web.security import same_token
from bot.store.access import EndedSessions

MAX_WRONG = 10
"""Wrong tokens from one address within ``WITHIN`` after which further wrong tokens get 429."""
WITHIN = 300.0
"""Seconds."""
_ADDRESSES = 10_000
OPERATOR = Viewer("operator", None)


class Attempts:
    """Counts wrong tokens by address.

    The count only changes the answer to further wrong tokens. The right token always works: behind a proxy all callers
    share one address, and a stranger must not be able to lock the operator out. What protects the token is its length.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._wrong: OrderedDict[str, list[float]] = OrderedDict()

    def is_blocked(self, address: str) -> bool:
        """Return whether too many wrong tokens came from this address within ``WITHIN``."""
        since = self._clock() - WITHIN
        recent = [at for at in self._wrong.get(address, ()) if at > since]
        return len(recent) >= MAX_WRONG

    def record_failure(self, address: str) -> None:
        """Count a wrong token."""
        # Reinsert the address at the end, so the loop below removes the addresses that failed longest ago.
        self._wrong[address] = [*self._wrong.pop(address, ()), self._clock()][-MAX_WRONG:]
        while len(self._wrong) > _ADDRESSES:
            self._wrong.popitem(last=False)


class TooManyError(Exception):
    """A wrong token after too many wrong ones from the same address."""


class Authenticator:
    """Authenticates requests."""

    def __init__(
        self,
        sessions: Sessions,
        admin_token: str | None,
        *,
        oauth_states: Sessions,
        accounts: Accounts | None = None,
        ended: EndedSessions | None = None,
    ) -> None:
        """Accept the operator's token, and GitHub accounts if they are configured.

        Args:
            sessions: the login cookie.
            admin_token: the operator's token; if None, login with a token is disabled.
            oauth_states: the cookie of a browser that was sent to GitHub to log in.
            accounts: users logged in through GitHub; None if GitHub login is not configured.
            ended: the sessions that were logged out; None if sessions cannot be ended early.
        """
        self.sessions = sessions
        self.oauth_states = oauth_states
        self.accounts = accounts
        self._token = admin_token
        self._ended = ended
        self._attempts = Attempts()
        self._refusals = Refusals()

    @property
    def accepts_tokens(self) -> bool:
        """Whether an operator's token is configured."""
        return self._token is not None

    async def viewer(self, request: Request) -> Viewer | None:
        """Authenticate a request by its cookie, or by ``Authorization: Bearer`` with the operator's token.

        Raises:
            TooManyError: the token is wrong and too many wrong ones came from this address.
            RetryableError: GitHub or the store does not answer, so permissions or the logout state are unknown.
        """
        kind, _, token = request.headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer":
            return OPERATOR if self.is_operator(request, token.strip()) else None
        payload = self.sessions.read(request) or {}
        if await self._is_operator_session(payload):
            return OPERATOR
        if self.accounts is not None and "account" in payload:
            return await self._account(self.accounts, payload["account"], payload.get("sealed", ""))
        return None

    async def _account(self, accounts: Accounts, key: str, sealed: str) -> Viewer | None:
        """Return the user of a login, which any server of the database continues and ends if it is sealed."""
        if sealed and await self._has_ended(key):
            accounts.log_out(key)
            return None
        viewer = await accounts.viewer(key, sealed)
        if viewer is None and sealed and self._ended is not None:
            await self._ended.end(key, LASTS)  # GitHub refused the token, and need not be asked again
        return viewer

    def is_operator(self, request: Request, token: str) -> bool:
        """Return whether this is the operator's token. The correct token is always accepted.

        Raises:
            TooManyError: the token is wrong and too many wrong ones came from this address.
        """
        # Before the attempts are counted, so that wrong tokens never lock the operator out.
        if self._token is not None and same_token(token, self._token):
            return True
        address = request.client.host if request.client else ""
        self._refusals.count("wrong token", address)
        if self._attempts.is_blocked(address):
            raise TooManyError
        self._attempts.record_failure(address)
        return False

    def log_in(self, request: Request, response: Response) -> None:
        """Log the operator in with a new session, valid until it expires or the operator's token changes."""
        session = secrets.token_urlsafe(16)
        self.sessions.write(request, response, {"operator": self._fingerprint(), "session": session})

    async def log_out(self, request: Request, response: Response) -> None:
        """End the session. Copies of its cookie become invalid too.

        A GitHub login is removed from memory. A session whose cookie would otherwise stay valid is recorded as ended:
        an operator's, and a login that any server continues.

        Raises:
            RetryableError: the store does not answer; the session continues.
        """
        payload = self.sessions.read(request) or {}
        if self.accounts is not None and "account" in payload:
            self.accounts.log_out(payload["account"])
        ended = payload.get("session") or (payload.get("account") if "sealed" in payload else None)
        if self._ended is not None and ended:
            await self._ended.end(str(ended), LASTS)
        self.sessions.forget(request, response)

    async def _is_operator_session(self, payload: dict[str, Any]) -> bool:
        """Return whether a cookie belongs to the operator, matches the current token, and its session was not ended."""
        if self._token is None or payload.get("operator") != self._fingerprint() or "session" not in payload:
            return False
        return not await self._has_ended(payload["session"])

    async def _has_ended(self, session: object) -> bool:
        return self._ended is not None and await self._ended.has_ended(str(session))

    def _fingerprint(self) -> str:
        # The cookie contains a digest instead of the token; a new token invalidates all sessions.
        return sha256(b"tracehound.operator:" + (self._token or "").encode()).hexdigest()[:32]


class RequireLogin:
    """Middleware that passes only authenticated requests and sets ``request.state.viewer``."""

    def __init__(self, app: ASGIApp, authenticator: Authenticator) -> None:
        self._app = app
        self._authenticator = authenticator

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        request = Request(scope, receive)
        try:
            viewer = await self._authenticator.viewer(request)
        except TooManyError:
            await fault(request, 429)(scope, receive, send)
            return
        except RetryableError:
            await fault(request, 503)(scope, receive, send)
            return
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
