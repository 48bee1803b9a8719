"""uvicorn's HTTP protocol with limits: size and count of headers, time for each phase, pipelined requests."""

import asyncio
from typing import Any

import httptools
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from bot.server.connections.registry import Connections, Phase, address_group

HEAD_BYTES = 64 * 1024
"""Maximum bytes of a request's line and headers. The parser's time grows with the square of it."""
HEADERS = 100
"""Maximum number of headers of one request; GitHub and a proxy send about thirty."""
AHEAD = 4
"""Maximum number of requests that may be sent before the first is answered."""
_PIECE = 16 * 1024
_CHUNK = 64 * 1024


class _LimitError(Exception):
    """Raised inside the parser's callbacks, which end the parsing."""


class LimitedProtocol(HttpToolsProtocol):
    """One connection; ``limited_protocol`` sets what all of them share."""

    registry: Connections
    deliveries: str

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Register the connection."""
        super().connection_made(transport)
        # A connection without a request counts as a head, so that the short time limit applies to an idle caller.
        self.phase: Phase = "head"
        self.since = self.loop.time()
        self.stalled_since: float | None = None
        self.protected = False
        self.address = address_group(self.client[0] if self.client else "")
        self._head_bytes = 0
        self._refusal: tuple[int, str] | None = None
        self._ended = False
        self._answering: RequestResponseCycle | None = None
        self.registry.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Remove the connection from the registry."""
        self._abandon()
        self.registry.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse what arrived, in small pieces while it may be a head."""
        if self._ended:
            return
        self._unset_keepalive_if_required()
        if self.phase == "idle":
            self._enter("head")
        rest = memoryview(data)
        while rest and not self._ended:
            # httptools reports nothing within an unfinished header, so only small pieces allow the bytes of a head to
            # be counted in time.
            size = _CHUNK if self.phase == "body" else _PIECE
            piece, rest = rest[:size], rest[size:]
            self._parse(piece)

    def _parse(self, piece: memoryview) -> None:
        try:
            self.parser.feed_data(piece)
        except httptools.HttpParserUpgrade:
            # Answer the request as plain HTTP and close the connection, because what follows is not HTTP.
            if self.cycle is not None and not self.cycle.response_complete:
                self.cycle.keep_alive = False
            else:
                self.end("request for another protocol")
        except httptools.HttpParserError:
            self._refuse(*(self._refusal or (400, "malformed request")))
            return
        if self.phase == "head":
            self._head_bytes += len(piece)
            if self._head_bytes > HEAD_BYTES:
                self._refuse(431, "headers too large")

    def on_message_begin(self) -> None:
        """Enter the phase of a head."""
        super().on_message_begin()
        self._enter("head")

    def on_header(self, name: bytes, value: bytes) -> None:
        """Store a header, unless there are too many."""
        if len(self.headers) >= HEADERS:
            self._refusal = (431, "too many headers")
            raise _LimitError
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Start the request."""
        # uvicorn stops reading, but queues every request that has arrived already.
        if len(self.pipeline) >= AHEAD:
            self._refusal = (429, "requests sent ahead")
            raise _LimitError
        super().on_headers_complete()
        self._head_bytes = 0
        self._enter("body")

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._answering = cycle
        super()._start_asgi_task(cycle, app)

    def on_message_complete(self) -> None:
        """Enter the phase of the answer, because the request is complete."""
        super().on_message_complete()
        self._enter("idle" if self.cycle.response_complete else "answer")

    def on_response_complete(self) -> None:
        """Start the next request, or wait for one."""
        super().on_response_complete()
        if self.phase == "answer":
            self._enter("idle" if self.cycle.response_complete else "answer")

    def pause_writing(self) -> None:
        """Record when the caller stopped reading."""
        self.stalled_since = self.loop.time()
        super().pause_writing()

    def resume_writing(self) -> None:
        """Record that the caller reads again."""
        self.stalled_since = None
        super().resume_writing()

    def is_closing(self) -> bool:
        """Return whether it is closed as soon as the caller has read everything."""
        return self.transport.is_closing()

    def end(self, reason: str) -> None:
        """Close the connection at once, in any phase."""
        self._abandon()
        if reason:
            self.registry.refusals.count(reason, self.address)
        self.transport.abort()

    def _abandon(self) -> None:
        """Accept no more requests, and discard an answer in progress: uvicorn disconnects only the newest one."""
        self._ended = True
        self.pipeline.clear()
        if self._answering is not None:
            self._answering.disconnected = True

    def _enter(self, phase: Phase) -> None:
        self.phase, self.since = phase, self.loop.time()
        # Only a delivery that arrived completely; a half-open request to the same path gets no protection.
        self.protected = phase == "answer" and self.scope["path"] == self.deliveries

    def _refuse(self, status: int, reason: str) -> None:
        """Send the reason, unless another answer is in progress, and close the connection."""
        idle = self._answering is None or self._answering.response_complete
        self._abandon()
        self.registry.refusals.count(reason, self.address)
        if idle:
            body = reason.encode()
            head = b"content-type: text/plain\r\nconnection: close\r\ncontent-length: %d\r\n\r\n" % len(body)
            self.transport.write(STATUS_LINE[status] + head + body)
        self.transport.close()


def limited_protocol(connections: Connections, deliveries: str = "") -> type[asyncio.Protocol]:
    """Return uvicorn's ``http`` protocol; whole requests to the path ``deliveries`` are never closed to make room."""
    bound: dict[str, Any] = {"registry": connections, "deliveries": deliveries}
    # uvicorn creates the protocol itself and passes only its own arguments, so the registry is a class attribute.
    return type("BoundProtocol", (LimitedProtocol,), bound)
