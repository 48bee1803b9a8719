"""An HTTP request to the operator's own address, signed or in the form of a chat service."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import httpx

from bot.errors import RefusedError, RetryableError, unanswered

PATIENCE = 10.0
"""Seconds for the whole request."""
_LONGEST = 1_800
"""Characters of a message; Discord accepts 2,000."""


def _slack(text: str) -> object:
    # Slack reads "<!channel>" and links in angle brackets.
    return {"text": text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")}


def _discord(text: str) -> object:
    return {"content": text, "allowed_mentions": {"parse": []}}


def _teams(text: str) -> object:
    block = {"type": "TextBlock", "text": text, "wrap": True}
    card = {"type": "AdaptiveCard", "version": "1.4", "body": [block]}
    return {
        "type": "message",
        "attachments": [{"contentType": "application/vnd.microsoft.card.adaptive", "content": card}],
    }


_CHATS: Mapping[str, Callable[[str], object]] = {
    "hooks.slack.com": _slack,
    "hooks.slack-gov.com": _slack,
    "discord.com": _discord,
    "discordapp.com": _discord,
    "webhook.office.com": _teams,
    "logic.azure.com": _teams,
    "api.powerplatform.com": _teams,
}
"""The form of a message by the host of the address, or by the end of that host."""


def chat_form(url: str) -> Callable[[str], object] | None:
    """Return the form of messages of the chat service at an address; None for any other receiver."""
    host = urlsplit(url).hostname or ""
    return next((form for name, form in _CHATS.items() if host == name or host.endswith(f".{name}")), None)


@dataclass(frozen=True, slots=True)
class Hook:
    """An address that receives alerts and notices; that of a chat service is a secret itself."""

    url: str = field(repr=False)
    secret: bytes = field(repr=False)
    """Signs the requests, except those to chat services, which check no signature."""

    async def send(self, delivery: str, event: Mapping[str, object]) -> None:
        """Send an event; the receiver drops a repeated delivery id.

        Args:
            delivery: identifies the event; a repeated request has the same one.
            event: the body, as JSON; a chat service receives only its ``text`` and ``link``.

        Raises:
            RetryableError: The address does not respond, or responds with 429 or 5xx.
            RefusedError: It responds with any other status than 2xx.
        """
        form = chat_form(self.url)
        shown = " ".join(filter(None, (str(event["text"])[:_LONGEST], str(event["link"]))))
        body = json.dumps(form(shown) if form else event, sort_keys=True).encode()
        headers = {"Content-Type": "application/json", "User-Agent": "tracehound"}
        if form is None:
            signature = hmac.new(self.secret, body, hashlib.sha256).hexdigest()
            headers |= {"X-Tracehound-Delivery": delivery, "X-Tracehound-Signature-256": f"sha256={signature}"}
        try:
            # No redirect is followed: the body is for this address only. The response's body is not read.
            async with (
                httpx.AsyncClient(timeout=PATIENCE, follow_redirects=False) as http,
                http.stream("POST", self.url, content=body, headers=headers) as response,
            ):
                status = response.status_code
        except httpx.HTTPError as error:
            raise RetryableError(unanswered("the alert address", error), after=60.0) from error
        if status == 429 or status >= 500:
            raise RetryableError(f"the alert address answered {status}", after=60.0)
        if not 200 <= status < 300:
            raise RefusedError(f"the alert address answered {status}")
