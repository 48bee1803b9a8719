"""HTTP transports for models: one records what the network answers, one answers from a recording without a network."""

from __future__ import annotations

import asyncio
import json
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

from bot.cli.backtest.recording import Exchange, Fault, RecordedCase, request_key
from nodes.trust.secrets import MASK, mask

MAX_RESPONSE = 4_000_000
"""Bytes of one response. A model's answer has some kilobytes; an endpoint that sends more is treated as broken."""
_HEADERS = ("content-type", "location", "retry-after", "retry-after-ms", "x-should-retry")
"""Response headers that the client reads. Others may contain accounts and keys."""
_SHORTEST_SECRET = 8


class Recorder(httpx.AsyncBaseTransport):
    """Passes requests on, and notes them with their responses. The caller sees the response as it is stored."""

    def __init__(
        self,
        inner: httpx.AsyncBaseTransport,
        secrets: tuple[str, ...] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Record what passes through a transport.

        Args:
            inner: carries the requests.
            secrets: texts that are masked in addition to everything that looks like a token.
            clock: measures responses, in seconds.
        """
        self._inner = inner
        self._secrets = tuple(secret for secret in secrets if len(secret) >= _SHORTEST_SECRET)
        self._clock = clock
        self.exchanges: list[Exchange] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request and record it."""
        body = await request.aread()
        started = self._clock()
        try:
            response = await self._inner.handle_async_request(request)
            content = await _content(response)
        # A deadline of the caller ends a request by cancelling it.
        except (httpx.TimeoutException, asyncio.CancelledError):
            self._note(request, body, started, fault="timeout")
            raise
        except httpx.TransportError:
            self._note(request, body, started, fault="connection")
            raise
        text = self._masked(content.decode("utf-8", "replace"))
        headers = _headers(response)
        self._note(request, body, started, status=response.status_code, headers=headers, answered=text)
        # The caller gets what is stored, not what was sent: otherwise a replay could differ from the recording.
        return httpx.Response(response.status_code, headers=headers, content=text.encode(), request=request)

    async def aclose(self) -> None:
        """Leave the inner transport open: several issues share it."""

    def _note(
        self,
        request: httpx.Request,
        body: bytes,
        started: float,
        *,
        status: int = 0,
        headers: tuple[tuple[str, str], ...] = (),
        answered: str = "",
        fault: Fault = "",
    ) -> None:
        key, seconds = request_key(request.url.path, body), round(self._clock() - started, 3)
        asked = self._masked(body.decode("utf-8", "replace"))
        self.exchanges.append(Exchange(key, status, headers, answered, fault, seconds, asked))

    def _masked(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, MASK)
        try:
            document = json.loads(text)
        except (ValueError, RecursionError):
            return mask(text)
        # Value by value: a mask over the whole text could remove a quotation mark of the JSON.
        masked = _masked_values(document)
        return text if masked == document else json.dumps(masked)


@dataclass
class ReplayClock:
    """The time that recorded responses took, so that deadlines expire in a replay as they did."""

    now: float = 0.0

    def __call__(self) -> float:
        """Return the seconds so far."""
        return self.now


@dataclass
class Replayer(httpx.AsyncBaseTransport):
    """Answers requests from a recording. Equal requests get their responses in the recorded order."""

    case: RecordedCase
    clock: ReplayClock = field(default_factory=ReplayClock)
    missing: int = 0
    """Requests that the recording does not have."""
    seconds: float = 0.0
    _left: dict[str, deque[Exchange]] = field(init=False)

    def __post_init__(self) -> None:
        self._left = {}
        for exchange in self.case.exchanges:
            self._left.setdefault(exchange.key, deque()).append(exchange)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Return the recorded response, or fail as the recorded request did."""
        left = self._left.get(request_key(request.url.path, await request.aread()))
        if not left:
            # The client turns every error into one of its own, so the caller reads the count instead.
            self.missing += 1
            raise httpx.ConnectError("the recording does not have this request", request=request)
        exchange = left.popleft()
        self.clock.now += exchange.seconds
        self.seconds += exchange.seconds
        if exchange.fault == "timeout":
            raise httpx.ReadTimeout("recorded", request=request)
        if exchange.fault == "connection":
            raise httpx.ConnectError("recorded", request=request)
        content = exchange.body.encode()
        return httpx.Response(exchange.status, headers=exchange.headers, content=content, request=request)


async def _content(response: httpx.Response) -> bytes:
    """Read a response up to the limit.

    Raises:
        httpx.TransportError: it is longer, or ends early.
    """
    content = bytearray()
    try:
        async for chunk in response.aiter_bytes():
            content += chunk
            if len(content) > MAX_RESPONSE:
                raise httpx.ReadError(f"the response has more than {MAX_RESPONSE:,} bytes")
    except httpx.DecodingError as error:
        raise httpx.ReadError("the response cannot be decoded") from error
    finally:
        await response.aclose()
    return bytes(content)


def _headers(response: httpx.Response) -> tuple[tuple[str, str], ...]:
    """Return the headers to store, without values that depend on the time of reading."""
    found = [(name, mask(response.headers[name])) for name in _HEADERS if name in response.headers]
    return tuple((name, _in_seconds(value) if name == "retry-after" else value) for name, value in found)


def _in_seconds(value: str) -> str:
    """Return a waiting time that was given as a date as seconds from now."""
    try:
        at = parsedate_to_datetime(value).timestamp()
    except (ValueError, TypeError):
        return value
    return str(max(round(at - time.time()), 0))


def _masked_values(document: Any) -> Any:
    if isinstance(document, str):
        return mask(document)
    if isinstance(document, list):
        return [_masked_values(one) for one in document]
    if isinstance(document, dict):
        return {name: _masked_values(one) for name, one in document.items()}
    return document
