"""What is under way between a click here and GitHub's answer."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field

from starlette.requests import Request

from bot.bearer import same_token
from bot.registration.manifest import Wish
from bot.web.attempts import Attempts

COOKIE = "triage-setup"
_MOST = 50


@dataclass
class Pending:
    """The token that opens the page, and the states that GitHub was sent; all of it ends with the process."""

    token: str = field(default_factory=lambda: secrets.token_hex(20))
    wishes: OrderedDict[str, Wish] = field(default_factory=OrderedDict)
    attempts: Attempts = field(default_factory=Attempts)
    over: bool = False
    """The App is there: the page is closed for good."""

    def opens(self, token: str) -> bool:
        """Whether this is the token of the log."""
        return same_token(token, self.token)

    def came_in(self, request: Request) -> bool:
        """Whether this browser showed the token before."""
        return self.opens(request.cookies.get(COOKIE, ""))

    def remember(self, wish: Wish) -> str:
        """A state for GitHub to send back."""
        state = secrets.token_urlsafe(24)
        self.wishes[state] = wish
        while len(self.wishes) > _MOST:
            self.wishes.popitem(last=False)
        return state

    def take(self, state: str) -> Wish | None:
        """What was wished under a state; each is good for one answer."""
        return self.wishes.pop(state, None)


@dataclass(frozen=True, slots=True)
class Defaults:
    """What the form says before anybody changed it."""

    server_url: str
    api_url: str
    """The API of that server."""
    public_url: str
    """Empty where the browser's own address is taken."""
    name: str
    owner: str = ""
    webhook_url: str = ""
    """Empty where deliveries go to the public address."""
    keep: bool = True

    def wish(self, here: str, asked: Mapping[str, str]) -> Wish:
        """What somebody asks for, by the form's fields."""
        public = (self.public_url or here).rstrip("/")
        return Wish(
            here=here,
            public_url=public,
            webhook_url=asked.get("webhook_url", self.webhook_url).strip() or f"{public}/webhooks/github",
            server_url=(asked.get("server_url", "").strip() or self.server_url).rstrip("/"),
            owner=asked.get("owner", self.owner).strip(),
            name=asked.get("name", "").strip() or self.name,
            keep=asked.get("keep", "yes" if self.keep else "no") == "yes",
        )
