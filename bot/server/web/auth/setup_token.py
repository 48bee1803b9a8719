"""The setup token from the log, and the registrations that it began."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections import OrderedDict
from dataclasses import asdict, dataclass, field

from itsdangerous import BadData, URLSafeTimedSerializer
from starlette.requests import Request

from bot.server.registration import RequestedApp
from bot.server.web.auth.authentication import Attempts
from bot.server.web.security import same_token

COOKIE = "triage-setup"
_MAX_REQUESTS = 50
_LASTS = 3_600
"""Seconds."""


@dataclass
class Pending:
    """The setup token and the states that were sent to GitHub. They exist only in this process's memory.

    With a secret that several servers share, each server computes the same token, and a state contains its request.
    """

    token: str = field(default_factory=lambda: secrets.token_hex(20))
    states: URLSafeTimedSerializer | None = None
    """Signs the states of several servers; None if this process has its own."""
    requests: OrderedDict[str, RequestedApp] = field(default_factory=OrderedDict)
    attempts: Attempts = field(default_factory=Attempts)
    over: bool = False
    """The App exists, so the setup pages are closed permanently."""

    @classmethod
    def shared(cls, secret: bytes) -> Pending:
        """Return what every server with this secret accepts."""
        token = hmac.new(secret, b"tracehound.setup", hashlib.sha256).hexdigest()[:40]
        signs = {"digest_method": hashlib.sha256}
        return cls(token, URLSafeTimedSerializer(secret, salt="tracehound.setup", signer_kwargs=signs))

    def is_token(self, token: str) -> bool:
        """Return whether this is the setup token from the log."""
        return same_token(token, self.token)

    def has_shown_token(self, request: Request) -> bool:
        """Return whether this browser has shown the token before."""
        return self.is_token(request.cookies.get(COOKIE, ""))

    def remember(self, requested: RequestedApp) -> str:
        """Store a requested App and return the state that GitHub sends back with its answer."""
        if self.states is not None:
            return str(self.states.dumps(asdict(requested)))
        state = secrets.token_urlsafe(24)
        self.requests[state] = requested
        # Each reload of the form adds a state.
        while len(self.requests) > _MAX_REQUESTS:
            self.requests.popitem(last=False)
        return state

    def take(self, state: str) -> RequestedApp | None:
        """Return the requested App of a state and remove it, so each state is valid for one answer.

        A state of several servers is valid for an hour; GitHub accepts the code that comes with it once.
        """
        if self.states is None:
            return self.requests.pop(state, None)
        try:
            return RequestedApp(**self.states.loads(state, max_age=_LASTS))
        except BadData:
            return None
