"""Find out who a request comes from: the operator by a token, or a person by a GitHub account in a signed cookie."""

import asyncio
import base64
import hashlib
import json
import math
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from cryptography.fernet import Fernet, InvalidToken
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from bot.errors import RetryableError
from bot.github.registration import LoggedOutError, People, Person
from bot.server.connections.registry import Refusals
from bot.server.web.auth.sessions import LASTS, Sessions, Viewer
from bot.server.web.security import same_token
from bot.store.installations import EndedSessions

MAX_WRONG = 10
"""Wrong tokens from one address within ``WITHIN`` after which further wrong tokens get 429."""
WITHIN = 300.0
"""Seconds."""
_ADDRESSES = 10_000
FRESH = 60.0
"""Seconds for which the visible repositories of a user are cached."""
STALE = 600.0
"""Seconds for which the cached value is still used while GitHub does not answer."""
MAX_CACHED = 1_000
"""Users whose repositories are cached; GitHub is asked again about the others."""
AT_ONCE = 20
"""Logins that may be in progress at once. Each one sends several requests to GitHub."""
OPERATOR = Viewer("operator", None)


class WrongTokens:
    """Counts wrong tokens by address.

    The count only changes the answer to further wrong tokens. The right token always works: behind a proxy all callers
    share one address, and a stranger must not be able to lock the operator out. What protects the token is its length.
    """

    def __init__(self) -> None:
        self._wrong: OrderedDict[str, list[float]] = OrderedDict()

    def check(self, request: Request) -> None:
        """Count a wrong token, unless too many came from its address within ``WITHIN``: then answer 429."""
        address, now = request.client.host if request.client else "", time.monotonic()
        if sum(at > now - WITHIN for at in self._wrong.get(address, ())) >= MAX_WRONG:
            raise HTTPException(429)
        # Reinsert the address at the end, so the loop below removes the addresses that failed longest ago.
        self._wrong[address] = [*self._wrong.pop(address, ()), now][-MAX_WRONG:]
        while len(self._wrong) > _ADDRESSES:
            self._wrong.popitem(last=False)


@dataclass
class _Account:
    person: Person
    token: str = field(repr=False)
    viewer: Viewer | None = None
    asked_at: float = -math.inf
    asking: asyncio.Lock = field(default_factory=asyncio.Lock)


class Accounts:
    """Users who logged in through GitHub. Their token is encrypted in their own cookie (docs/decisions.md).

    Any server with the same secret continues a login, also after a restart. What GitHub lets a user see is cached.
    """

    def __init__(self, people: People, host: str, secret: bytes, clock: Callable[[], float] = time.monotonic) -> None:
        """Start with an empty cache; ``host`` begins the keys of repositories, and ``secret`` encrypts the tokens."""
        self.people = people
        self._host = host.lower()
        self._clock = clock
        # Not the key that signs cookies.
        digest = hashlib.sha256(b"tracehound.accounts:" + secret).digest()
        self._cipher = Fernet(base64.urlsafe_b64encode(digest))
        self._known: OrderedDict[str, _Account] = OrderedDict()
        self.in_progress = asyncio.Semaphore(AT_ONCE)
        """The logins that are in progress; further ones are refused."""

    async def log_in(self, token: str) -> dict[str, str]:
        """Log a user in by their GitHub token; return what to store in their cookie.

        Raises:
            LoggedOutError: GitHub does not accept the token.
            RetryableError: GitHub does not answer.
        """
        person = await self.people.account(token)
        if not person.login:
            raise LoggedOutError("no login name")
        key = secrets.token_urlsafe(24)
        account = self._cached(key, _Account(person, token))
        await self._refresh(account)
        sealed = self._cipher.encrypt(json.dumps([person.login, person.id, token]).encode())
        return {"account": key, "sealed": sealed.decode()}

    async def viewer(self, key: str, sealed: str) -> Viewer | None:
        """Return the user of a cookie with the repositories they may currently see; None if logged out.

        Raises:
            RetryableError: GitHub has not answered for longer than ``STALE``.
        """
        try:
            login, number, token = json.loads(self._cipher.decrypt(sealed))
        except InvalidToken:
            return None
        account = self._cached(key, _Account(Person(login, number), token))
        # The lock lets one request refresh the account; concurrent requests of the same user then reuse the result.
        async with account.asking:
            age = self._clock() - account.asked_at
            try:
                if age > FRESH:
                    await self._refresh(account)
            except LoggedOutError:
                self.forget(key)
                return None
            except RetryableError:
                if age > STALE:
                    raise
        return account.viewer

    def forget(self, key: str) -> None:
        """Remove a login from the cache."""
        self._known.pop(key, None)

    def _cached(self, key: str, account: _Account) -> _Account:
        """Return the cached account of a login, or this one, which is cached from now on."""
        known = self._known.setdefault(key, account)
        self._known.move_to_end(key)
        while len(self._known) > MAX_CACHED:
            self._known.popitem(last=False)
        return known

    async def _refresh(self, account: _Account) -> None:
        found = await self.people.repositories(account.token)
        keys = {f"{self._host}/{number}": may_triage for number, may_triage in found.items()}
        triages = frozenset(key for key, may_triage in keys.items() if may_triage)
        account.viewer = Viewer(account.person.login, frozenset(keys), triages, account.person.id)
        account.asked_at = self._clock()


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
        """Accept the operator's token and GitHub accounts, each if it is configured.

        ``oauth_states`` is the cookie of a browser that was sent to GitHub; without ``ended`` no session ends early.
        """
        self.sessions = sessions
        self.oauth_states = oauth_states
        self.accounts = accounts
        self._token = admin_token
        self._ended = ended
        self._attempts = WrongTokens()
        self._refusals = Refusals()

    @property
    def accepts_tokens(self) -> bool:
        """Whether an operator's token is configured."""
        return self._token is not None

    async def viewer(self, request: Request) -> Viewer | None:
        """Authenticate a request by its cookie, or by ``Authorization: Bearer`` with the operator's token.

        Raises:
            HTTPException: 429, the token is wrong and too many wrong ones came from this address.
            RetryableError: GitHub or the store does not answer, so permissions or the logout state are unknown.
        """
        kind, _, token = request.headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer":
            return OPERATOR if self.is_operator(request, token.strip()) else None
        payload = self.sessions.read(request) or {}
        if await self._is_operator_session(payload):
            return OPERATOR
        if self.accounts is None or "account" not in payload or await self._has_ended(payload["account"]):
            return None
        viewer = await self.accounts.viewer(payload["account"], payload.get("sealed", ""))
        if viewer is None:
            await self._end(payload["account"])  # GitHub refused the token, and need not be asked again
        return viewer

    def is_operator(self, request: Request, token: str) -> bool:
        """Return whether this is the operator's token; HTTPException 429 after too many wrong ones of an address."""
        # Before the attempts are counted, so that wrong tokens never lock the operator out.
        if self._token is not None and same_token(token, self._token):
            return True
        self._refusals.count("wrong token", request.client.host if request.client else "")
        self._attempts.check(request)
        return False

    def log_in(self, request: Request, response: Response) -> None:
        """Log the operator in with a new session, valid until it expires or the operator's token changes."""
        session = secrets.token_urlsafe(16)
        self.sessions.write(request, response, {"operator": self._fingerprint(), "session": session})

    async def log_out(self, request: Request, response: Response) -> None:
        """End the session, also for copies of its cookie; RetryableError if the store does not answer."""
        payload = self.sessions.read(request) or {}
        ended = payload.get("session") or payload.get("account")
        if ended:
            await self._end(str(ended))
        self.sessions.forget(request, response)

    async def _end(self, session: str) -> None:
        if self.accounts is not None:
            self.accounts.forget(session)
        if self._ended is not None:
            await self._ended.end(session, LASTS)

    async def _is_operator_session(self, payload: dict[str, Any]) -> bool:
        """Return whether a cookie belongs to the operator, matches the current token, and its session was not ended."""
        if self._token is None or payload.get("operator") != self._fingerprint() or "session" not in payload:
            return False
        return not await self._has_ended(payload["session"])

    async def _has_ended(self, session: object) -> bool:
        return self._ended is not None and await self._ended.has_ended(str(session))

    def _fingerprint(self) -> str:
        # The cookie contains a digest instead of the token; a new token invalidates all sessions.
        return hashlib.sha256(b"tracehound.operator:" + (self._token or "").encode()).hexdigest()[:32]
