"""Servers that violate MCP: over standard streams as a script, over HTTP as a thread."""

from __future__ import annotations

import gzip
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def misbehave(how: str) -> None:
    """Misbehave over standard streams."""
    if how == "silent":
        time.sleep(600)
    if how == "stubborn":
        import signal

        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while True:  # it does not exit even when its input is closed
            time.sleep(600)
    while how == "garbage":
        os.write(1, b"not json " * 1000 + b"\n")
    while how == "endless":
        os.write(1, b"x" * 65_536)


class Handler(BaseHTTPRequestHandler):
    """Responds according to the path."""

    asked: list[str]

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def _answer(self) -> None:
        self.asked.append(f"{self.command} {self.path} {self.headers.get('Authorization', '')}".strip())
        how = self.path.strip("/").partition("/")[0].partition("?")[0]
        with suppress(OSError):
            getattr(self, f"_{how}", self._secret)()

    def _redirects(self) -> None:
        self._say(307, b"", location=f"http://localhost:{self.connection.getsockname()[1]}/secret")

    def _secret(self) -> None:
        self._say(200, b"{}")

    def _garbage(self) -> None:
        self._say(200, b"<html>" * 100)

    def _refuses(self) -> None:
        self._say(500, b"{}")

    def _packed(self) -> None:
        self._say(200, gzip.compress(b'{"results": []' + b" " * 50_000_000 + b"}"), content_encoding="gzip")

    def _silent(self) -> None:
        time.sleep(60)

    def _endless(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for _ in range(10_000):
            self.wfile.write(b"event: message\ndata: " + b"x" * 10_000 + b"\n\n")

    def _drips(self) -> None:
        """Send one byte at intervals: no single read is slow."""
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        for _ in range(600):
            self.wfile.write(b" ")
            self.wfile.flush()
            time.sleep(0.1)

    def _say(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def bad_http() -> Iterator[tuple[str, list[str]]]:
    """Yield the server's address and the received requests."""
    requests: list[str] = []
    handler = type("Bad", (Handler,), {"asked": requests})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    server.block_on_close = False
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", requests
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


if __name__ == "__main__":
    misbehave(sys.argv[1])
