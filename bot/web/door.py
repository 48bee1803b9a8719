"""The login: nothing about a repository is shown, streamed or hinted at before it."""

from __future__ import annotations

import secrets
from hashlib import sha256
from typing import Any, Protocol
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from bot.bearer import same_token
from bot.connections import Refusals
from bot.errors import RetryableError
from bot.web.accounts import Accounts
from bot.web.attempts import Attempts
from bot.web.faults import fault, wants_page
from bot.web.sessions import LASTS, Sessions
from bot.web.viewer import Viewer

OPERATOR = Viewer("operator", None)


class TooManyError(Exception):
    """A wrong token, after many wrong ones from the same address."""


class Ended(Protocol):
    """Sessions that ended before their time."""

    async def end(self, session: str, lasts: float) -> None:
        """End a session whose cookie would be valid for so many seconds at most."""

    async def has_ended(self, session: str) -> bool:
        """Whether a session was ended."""


class Door:
    """Knows who may come in."""

    def __init__(
        self,
        sessions: Sessions,
        admin_token: str | None,
        *,
        errands: Sessions,
        accounts: Accounts | None = None,
        ended: Ended | None = None,
    ) -> None:
        """Open for the operator's token, and for GitHub's accounts where they are known.

        Args:
            sessions: the cookie.
            admin_token: the operator's; without one nobody can log in with a token.
            errands: the cookie of who was sent to GitHub to log in.
            accounts: who came back.
            ended: the operator's sessions that were logged out; None where none can be.
        """
        self.sessions = sessions
        self.errands = errands
        self.accounts = accounts
        self._token = admin_token
        self._ended = ended
        self._attempts = Attempts()
        self._refusals = Refusals()

    @property
    def takes_tokens(self) -> bool:
        """Whether there is an operator's token."""
        return self._token is not None

    async def viewer(self, request: Request) -> Viewer | None:
        """Who asks: by cookie, or by ``Authorization: Bearer`` with the operator's token.

        Raises:
            TooManyError: the token is wrong, like many before it from there.
            RetryableError: GitHub does not say what they may see, or the store whether they logged out.
        """
        kind, _, token = request.headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer":
            return OPERATOR if self.is_operator(request, token.strip()) else None
        said = self.sessions.read(request) or {}
        if await self._is_operators(said):
            return OPERATOR
        if self.accounts is not None and "account" in said:
            return await self.accounts.viewer(said["account"])
        return None

    def is_operator(self, request: Request, token: str) -> bool:
        """Whether this is the operator's token. The right one always works.

        Raises:
            TooManyError: it is wrong, like many before it from there.
        """
        if self._token is not None and same_token(token, self._token):
            return True
        address = request.client.host if request.client else ""
        self._refusals.count("wrong token", address)
        if self._attempts.is_guessing(address):
            raise TooManyError
        self._attempts.was_wrong(address)
        return False

    def let_in(self, request: Request, response: Response) -> None:
        """Remember that this browser is the operator's, until the token is another."""
        session = secrets.token_urlsafe(16)
        self.sessions.write(request, response, {"operator": self._fingerprint(), "session": session})

    async def let_out(self, request: Request, response: Response) -> None:
        """End the session, so that no copy of its cookie opens anything either.

        Raises:
            RetryableError: the store does not answer; the session continues.
        """
        said = self.sessions.read(request) or {}
        if self.accounts is not None and "account" in said:
            self.accounts.leave(said["account"])
        if self._ended is not None and "session" in said:
            await self._ended.end(str(said["session"]), LASTS)
        self.sessions.forget(request, response)

    async def _is_operators(self, said: dict[str, Any]) -> bool:
        """Whether a cookie was given to the operator, for the token of now, and the session was not ended."""
        if self._token is None or said.get("operator") != self._fingerprint() or "session" not in said:
            return False
        return self._ended is None or not await self._ended.has_ended(str(said["session"]))

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
