"""A signed HTTP request to the operator's own address."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass, field

import httpx

from bot.errors import RefusedError, RetryableError, unanswered

PATIENCE = 10.0
"""Seconds for the whole request."""


@dataclass(frozen=True, slots=True)
class Hook:
    """An address that receives alerts."""

    url: str = field(repr=False)
    secret: bytes = field(repr=False)
    """Signs the requests."""

    async def send(self, delivery: str, event: Mapping[str, object]) -> None:
        """Send an event; the receiver drops a repeated delivery id.

        Args:
            delivery: identifies the event; a repeated request has the same one.
            event: the body, as JSON.

        Raises:
            RetryableError: The address does not respond, or responds with 429 or 5xx.
            RefusedError: It responds with any other status than 2xx.
        """
        body = json.dumps(event, sort_keys=True).encode()
        signature = hmac.new(self.secret, body, hashlib.sha256).hexdigest()
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "tracehound",
            "X-Tracehound-Delivery": delivery,
            "X-Tracehound-Signature-256": f"sha256={signature}",
        }
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
