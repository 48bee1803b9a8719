"""The endpoint: read the delivery, ask the handlers, store what follows, answer 202."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence

from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from bot.events import FORM, JSON, MalformedError, Signature, media_type, read_delivery
from bot.handlers import Handlers
from bot.logs import about
from bot.metrics.measures import ACKNOWLEDGED, DELIVERIES
from bot.store.database import StoreError
from bot.store.deliveries import Arrival

LARGEST = 25 * 1024 * 1024
"""GitHub's own bound on a delivery's body, in bytes."""
PATIENCE = 10.0
"""Seconds for a whole body to arrive and be stored; GitHub waits no longer for an answer."""
DISCARDED = 64 * 1024 * 1024
"""Bytes of a body that is refused which are still taken in, so that the sender gets to read why."""

_QUEUED, _KNOWN, _NOTHING = (JSONResponse({"status": said}, 202) for said in ("queued", "known", "nothing to do"))

_OUTCOMES: Mapping[Response, str] = {_QUEUED: "queued", _KNOWN: "known", _NOTHING: "nothing to do"}

logger = logging.getLogger(__name__)


class Webhook:
    """``POST /webhooks/github``: what was answered 202 survives whatever comes next."""

    def __init__(
        self,
        secrets: Sequence[bytes],
        handlers: Handlers,
        accept: Callable[[Arrival], Awaitable[bool]],
        wake: Callable[[], None],
        *,
        server: str = "github.com",
    ) -> None:
        """Make the endpoint.

        Args:
            secrets: each of which a delivery may be signed with.
            handlers: what deliveries ask for.
            accept: stores a delivery durably; False if it was known.
            wake: tells whoever works that there is something to do.
            server: where pages are, should a payload not say.
        """
        self._secrets = secrets
        self._handlers = handlers
        self._accept = accept
        self._wake = wake
        self._server = server

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        began = time.perf_counter()
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        until = asyncio.get_running_loop().time() + PATIENCE
        try:
            response = await self._answer(scope["method"], headers, receive, until)
        except TimeoutError:
            response = _refused(408, "the body took too long")
        except ClientDisconnect:
            return
        await response(scope, receive, send)
        self._count(headers.get("x-github-event", ""), response, began)

    def _count(self, event: str, response: Response, began: float) -> None:
        """Whatever a sender calls an event, only those that we use have a name of their own."""
        outcome = _OUTCOMES.get(response, "refused" if response.status_code < 500 else "failed")
        DELIVERIES.labels(event if self._handlers.uses(event) else "other", outcome).inc()
        ACKNOWLEDGED.observe(time.perf_counter() - began)

    async def _answer(self, method: str, headers: Mapping[str, str], receive: Receive, until: float) -> Response:
        if method != "POST":
            return _refused(405, "POST deliveries here", {"Allow": "POST"})
        if media_type(headers.get("content-type")) not in (JSON, FORM):
            return _refused(415, f"send {JSON} or {FORM}")
        signature = Signature(self._secrets)
        async with asyncio.timeout_at(until):
            body = await _read(receive, signature)
        if body is None:
            return _refused(413, f"no more than {LARGEST} bytes")
        if not signature.matches(headers.get("x-hub-signature-256")):
            return _refused(401, "the signature does not fit the body")
        try:
            return await self._store(headers, body, until)
        except MalformedError as error:
            return _refused(400, str(error))

    async def _store(self, headers: Mapping[str, str], body: bytes, until: float) -> Response:
        event = headers.get("x-github-event", "")
        known = self._handlers.uses(event)
        delivery = read_delivery(headers, body, known=known, server=self._server)
        work = self._handlers.decide(delivery) if known else []
        if not work:
            return _NOTHING
        with about(delivery=delivery.guid, event=delivery.event):
            try:
                async with asyncio.timeout_at(until):
                    fresh = await self._accept(Arrival(delivery.guid, delivery.event, body, tuple(work)))
            except (StoreError, TimeoutError) as error:
                why = str(error) or "the store took too long"
                logger.warning("a delivery is not stored: %s", why, extra={"action": "delivery_not_stored"})
                return _refused(503, "not stored; redeliver it later")
        if fresh:
            self._wake()
        return _QUEUED if fresh else _KNOWN


async def _read(receive: Receive, signature: Signature) -> bytes | None:
    """The body, hashed piece by piece; None if it is too large, of which nothing is kept."""
    pieces: list[bytes] = []
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        piece, more = message.get("body", b""), message.get("more_body", False)
        size += len(piece)
        if size > DISCARDED:
            return None
        if size <= LARGEST:
            signature.update(piece)
            pieces.append(piece)
        else:
            pieces.clear()
    return b"".join(pieces) if size <= LARGEST else None


def _refused(code: int, why: str, headers: dict[str, str] | None = None) -> Response:
    return JSONResponse({"error": why}, code, headers)
