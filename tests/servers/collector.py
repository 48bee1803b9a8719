"""A simulated trace collector: real HTTP on a free port of 127.0.0.1 that stores what it receives."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span


@dataclass
class Collector:
    """The collector's address and the received bodies."""

    url: str
    bodies: list[tuple[str, bytes]] = field(default_factory=list)

    def spans(self) -> list[Span]:
        """Return every span that OpenTelemetry sent."""
        found = []
        for path, body in list(self.bodies):
            if path == "/v1/traces":
                request = ExportTraceServiceRequest.FromString(body)
                found += [span for r in request.resource_spans for scope in r.scope_spans for span in scope.spans]
        return found

    def everything(self) -> str:
        """Return everything that was sent, as text."""
        return "\n".join(body.decode(errors="replace") for _, body in list(self.bodies))


@contextmanager
def collecting() -> Iterator[Collector]:
    """Run a collector during a test."""
    httpd = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    httpd.daemon_threads = True
    collector = Collector(f"http://127.0.0.1:{httpd.server_port}")
    httpd.collector = collector  # type: ignore[attr-defined]
    thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield collector
    finally:
        httpd.shutdown()
        httpd.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        self.server.collector.bodies.append((self.path, body))  # type: ignore[attr-defined]
        self._answer()

    def do_PATCH(self) -> None:
        self.do_POST()

    def do_GET(self) -> None:
        self._answer()

    def _answer(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Log nothing."""
