"""Simulated SearXNG and Tavily: real HTTP on a free port of 127.0.0.1, with the test's responses."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit


@dataclass
class SearchServer:
    """The server's address, its responses and the received requests."""

    url: str = ""
    results: list[Any] = field(default_factory=list)
    asked: list[dict[str, Any]] = field(default_factory=list)


@contextmanager
def serve_search(*results: dict[str, str]) -> Iterator[SearchServer]:
    """Serve both until the end of the block."""
    given = SearchServer(results=list(results))

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            query = {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}
            self._say({"path": urlsplit(self.path).path, **query})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self._say({"path": self.path, **body})

        def _say(self, query: dict[str, Any]) -> None:
            given.asked.append({**query, "authorization": self.headers.get("Authorization", "")})
            body = json.dumps({"results": given.results}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    given.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield given
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
