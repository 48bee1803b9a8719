"""The login: nothing about a repository is shown, streamed or hinted at before it."""

from __future__ import annotations

import hmac
import logging
from hashlib import sha256
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from bot.errors import RetryableError
from bot.web.accounts import Accounts
from bot.web.attempts import Attempts
from bot.web.faults import fault, wants_page
from bot.web.sessions import Sessions
from bot.web.viewer import Viewer

OPERATOR = Viewer("operator", None)

logger = logging.getLogger(__name__)


class TooManyError(Exception):
    """Somebody guesses."""


class Door:
    """Knows who may come in."""

    def __init__(
        self, sessions: Sessions, admin_token: str | None, *, errands: Sessions, accounts: Accounts | None = None
    ) -> None:
        """Open for the operator's token, and for GitHub's accounts where they are known.

        Args:
            sessions: the cookie.
            admin_token: the operator's; without one nobody can log in with a token.
            errands: the cookie of who was sent to GitHub to log in.
            accounts: who came back.
        """
        self.sessions = sessions
        self.errands = errands
        self.accounts = accounts
        self._token = admin_token
        self._attempts = Attempts()

    @property
    def takes_tokens(self) -> bool:
        """Whether there is an operator's token."""
        return self._token is not None

    async def viewer(self, request: Request) -> Viewer | None:
        """Who asks: by cookie, or by ``Authorization: Bearer`` with the operator's token.

        Raises:
            TooManyError: too many wrong tokens came from there.
            RetryableError: GitHub does not say what they may see.
        """
        kind, _, token = request.headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer":
            return OPERATOR if self.is_operator(request, token.strip()) else None
        said = self.sessions.read(request) or {}
        if self._token is not None and said.get("operator") == self._fingerprint():
            return OPERATOR
        if self.accounts is not None and "account" in said:
            return await self.accounts.viewer(said["account"])
        return None

    def is_operator(self, request: Request, token: str) -> bool:
        """Whether this is the operator's token; wrong ones are counted.

        Raises:
            TooManyError: too many came from there.
        """
        address = request.client.host if request.client else ""
        if not self._attempts.may_try(address):
            raise TooManyError
        right = self._token is not None and hmac.compare_digest(token.encode(), self._token.encode())
        if not right:
            self._attempts.was_wrong(address)
            logger.warning("a wrong token was tried from %s", address, extra={"action": "wrong_token"})
        return right

    def let_in(self, request: Request, response: Response) -> None:
        """Remember that this browser is the operator's, until the token is another."""
        self.sessions.write(request, response, {"operator": self._fingerprint()})

    def let_out(self, request: Request, response: Response) -> None:
        """Forget who this browser's was."""
        said = self.sessions.read(request) or {}
        if self.accounts is not None and "account" in said:
            self.accounts.leave(said["account"])
        self.sessions.forget(request, response)

    def _fingerprint(self) -> str:
        return sha256(b"tracehound.operator:" + (self._token or "").encode()).hexdigest()[:32]


class Gate:
    """Middleware: lets those through who are logged in, as ``request.state.viewer``."""

    def __init__(self, app: ASGIApp, door: Door) -> None:
        self._app = app
        self._door = door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = Request(scope, receive)
        try:
            viewer = await self._door.viewer(request)
        except TooManyError:
            await fault(request, 429)(scope, receive, send)
            return
        except RetryableError:
            await fault(request, 503)(scope, receive, send)
            return
        if viewer is None:
            await ask_to_log_in(request)(scope, receive, send)
            return
        request.state.viewer = viewer
        await self._app(scope, receive, send)


def ask_to_log_in(request: Request) -> Response:
    """The same for every path, whether there is something behind it or not."""
    if not wants_page(request):
        return fault(request, 401, {"www-authenticate": "Bearer"})
    if request.method != "GET":
        return RedirectResponse("/login", 303)
    wanted = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    return RedirectResponse("/login" if wanted == "/" else f"/login?next={quote(wanted, safe='')}", 303)
