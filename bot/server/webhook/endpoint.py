"""The endpoint: read the delivery, call the handlers, store the jobs, answer 202."""

import asyncio
import contextlib
import hashlib
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from bot.observability.logs import log_context
from bot.observability.measures import ACKNOWLEDGED, DELIVERIES
from bot.server.connections.bodies import Bodies, Body, NoRoomError
from bot.server.connections.registry import Refusals
from bot.server.webhook import events
from bot.server.webhook.handlers import HANDLERS, work_for
from bot.store.databases.database import StoreError
from bot.store.jobs.deliveries import Arrival

MAX_DELIVERY = 25 * 1024 * 1024
"""GitHub's own limit on a delivery's body, in bytes."""
DELIVERY_SECONDS = 10.0
"""Seconds for a whole body to arrive and be stored; GitHub waits no longer for a response."""
LINGER = 2.0
"""Seconds to receive and discard a refused body, so that the sender can read the response."""
DISCARDED = 1024 * 1024
"""Maximum number of bytes to discard."""

_QUEUED, _KNOWN, _NOTHING = (JSONResponse({"status": status}, 202) for status in ("queued", "known", "nothing to do"))

_OUTCOMES: Mapping[Response, str] = {_QUEUED: "queued", _KNOWN: "known", _NOTHING: "nothing to do"}

logger = logging.getLogger(__name__)


class Webhook:
    """``POST /webhooks/github``: a delivery answered with 202 is stored durably."""

    def __init__(
        self,
        secrets: Sequence[bytes],
        accept: Callable[[Arrival], Awaitable[bool]],
        wake: Callable[[], None],
        *,
        server: str = "github.com",
    ) -> None:
        """Accept deliveries that are signed with any of the secrets.

        ``accept`` stores one durably, and returns False if it was stored before; ``wake`` notifies the worker.
        ``server`` is the host of GitHub's pages, used if a payload names none.
        """
        self._secrets = secrets
        self._accept = accept
        self._wake = wake
        self._server = server
        self._bodies = Bodies()
        self._refusals = Refusals()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        started = time.perf_counter()
        request = Request(scope, receive)
        response = _unread(request)
        unread = response is not None
        if response is None:
            try:
                response = await self._answer(request)
            # No response can be sent any more; GitHub records the delivery as failed.
            except ClientDisconnect:
                return
        # Any sender can cause these, so they are added up and not logged one by one.
        if response.status_code in (401, 408, 413, 503):
            self._refusals.count(f"delivery ({response.status_code})", request.client.host if request.client else "")
        # These responses may be sent before the body was read completely.
        if unread or response.status_code in (408, 413, 503):
            await _last_answer(response, request, send)
        else:
            await response(scope, receive, send)
        self._count(request.headers.get("x-github-event", ""), response, started)

    def _count(self, event: str, response: Response, started: float) -> None:
        """Count the delivery; unused events share the label "other", since any sender can invent event names."""
        outcome = _OUTCOMES.get(response, "refused" if response.status_code < 500 else "failed")
        DELIVERIES.labels(event if event in HANDLERS else "other", outcome).inc()
        ACKNOWLEDGED.observe(time.perf_counter() - started)

    async def _answer(self, request: Request) -> Response:
        until = asyncio.get_running_loop().time() + DELIVERY_SECONDS
        signature = events.Signature(self._secrets)
        with self._bodies.one() as held:
            try:
                chunks = await _read(request, signature, held, until)
            except (TimeoutError, NoRoomError):
                dropped = _refused(503, "too many large bodies at once; redeliver it later")
                return dropped if held.dropped else _refused(408, "the body arrived too slowly")
            if chunks is None:
                return _too_large()
            # After the whole body, which the signature covers, and before any of it is parsed.
            if not signature.matches(request.headers.get("x-hub-signature-256")):
                return _refused(401, "the signature does not match the body")
            try:
                return await self._store(request.headers, b"".join(chunks), until)
            except events.MalformedError as error:
                return _refused(400, str(error))

    async def _store(self, headers: Mapping[str, str], body: bytes, until: float) -> Response:
        event = headers.get("x-github-event", "")
        delivery = events.read_delivery(headers, body, known=event in HANDLERS, server=self._server)
        work = work_for(delivery)
        if not work:
            return _NOTHING
        # The digest detects replays: the signature covers no id, so a captured body would stay valid under a new one.
        arrival = Arrival(delivery.guid, delivery.event, body, tuple(work), hashlib.sha256(body).hexdigest())
        with log_context(delivery=delivery.guid, event=delivery.event):
            try:
                # GitHub stops waiting after ten seconds. A 503 in time shows as failed in its log, and can be
                # redelivered.
                async with asyncio.timeout_at(until):
                    fresh = await self._accept(arrival)
            except (StoreError, TimeoutError) as error:
                why = str(error) or "the store timed out"
                logger.warning("a delivery was not stored: %s", why, extra={"action": "delivery_not_stored"})
                return _refused(503, "not stored; redeliver it later")
        if fresh:
            # After the commit, or the worker would query before the job is visible.
            self._wake()
        return _QUEUED if fresh else _KNOWN


def _unread(request: Request) -> Response | None:
    """Return the response to a request that is refused before its body is read; None if the body must be read."""
    headers = request.headers
    if request.method != "POST":
        return _refused(405, "POST deliveries here", {"Allow": "POST"})
    if events.media_type(headers.get("content-type")) not in (events.JSON, events.FORM):
        return _refused(415, f"send {events.JSON} or {events.FORM}")
    # Unsigned bodies must not take memory: a few dozen concurrent ones of 25 MB would fill it.
    if not events.is_signature(headers.get("x-hub-signature-256")):
        return _refused(401, "X-Hub-Signature-256 is missing or malformed")
    # int() raises ValueError beyond 4,300 digits; the first 20 digits already exceed the limit.
    length = headers.get("content-length", "0")
    return _too_large() if not length.isdecimal() or int(length[:20]) > MAX_DELIVERY else None


async def _read(request: Request, signature: events.Signature, held: Body, until: float) -> list[bytes] | None:
    """Return the body in chunks, added to the signature; None if it is too large.

    Raises:
        TimeoutError: the body arrived too slowly, or was dropped while more of it was awaited.
        NoRoomError: the body was dropped to make room for others.
    """
    chunks: list[bytes] = []
    async with held.reading(until):
        async for chunk in request.stream():
            # Count the size here: a chunked request has no Content-Length that could be refused earlier.
            await held.hold(len(chunk))
            if held.size > MAX_DELIVERY:
                return None
            signature.update(chunk)
            chunks.append(chunk)
    return chunks


async def _last_answer(response: Response, request: Request, send: Send) -> None:
    """Respond, discard some of what still comes, and close: unread bytes would reset the connection first."""
    headers = [*response.raw_headers, (b"connection", b"close")]
    await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
    await send({"type": "http.response.body", "body": response.body, "more_body": True})
    left = DISCARDED
    with contextlib.suppress(TimeoutError, ClientDisconnect):
        async with asyncio.timeout(LINGER):
            async for chunk in request.stream():
                left -= len(chunk)
                if left < 0:
                    break
    await send({"type": "http.response.body", "body": b""})


def _too_large() -> Response:
    return _refused(413, f"the body has more than {MAX_DELIVERY} bytes")


def _refused(code: int, why: str, headers: dict[str, str] | None = None) -> Response:
    return JSONResponse({"error": why}, code, headers)
