"""State between the setup form and GitHub's redirect back."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field

from starlette.requests import Request

from bot.bearer import same_token
from bot.registration.manifest import RequestedApp
from bot.web.attempts import Attempts

COOKIE = "triage-setup"
_MOST = 50


@dataclass
class Pending:
    """The setup token and the states that were sent to GitHub. They exist only in this process's memory."""

    token: str = field(default_factory=lambda: secrets.token_hex(20))
    requests: OrderedDict[str, RequestedApp] = field(default_factory=OrderedDict)
    attempts: Attempts = field(default_factory=Attempts)
    over: bool = False
    """The App exists, so the setup pages are closed permanently."""

    def is_token(self, token: str) -> bool:
        """Whether this is the setup token from the log."""
        return same_token(token, self.token)

    def has_shown_token(self, request: Request) -> bool:
        """Whether this browser has shown the token before."""
        return self.is_token(request.cookies.get(COOKIE, ""))

    def remember(self, requested: RequestedApp) -> str:
        """Store a wish and return the state that GitHub sends back with its answer."""
        state = secrets.token_urlsafe(24)
        self.requests[state] = requested
        while len(self.requests) > _MOST:
            self.requests.popitem(last=False)
        return state

    def take(self, state: str) -> RequestedApp | None:
        """Return the wish of a state and remove it, so each state is valid for one answer."""
        return self.requests.pop(state, None)


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

    def requested(self, here: str, asked: Mapping[str, str]) -> RequestedApp:
        """Build a wish from the form's fields.

        Args:
            here: address by which the browser reaches this server.
            asked: the form's fields; the defaults fill missing ones.
        """
        public = (self.public_url or here).rstrip("/")
        return RequestedApp(
            here=here,
            public_url=public,
            webhook_url=asked.get("webhook_url", self.webhook_url).strip() or f"{public}/webhooks/github",
            server_url=(asked.get("server_url", "").strip() or self.server_url).rstrip("/"),
            owner=asked.get("owner", self.owner).strip(),
            name=asked.get("name", "").strip() or self.name,
            keep=asked.get("keep", "yes" if self.keep else "no") == "yes",
        )
