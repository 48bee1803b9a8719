"""One address in front of the emulator: git requests are answered from a real repository, all others pass unchanged."""

from __future__ import annotations

import base64
import http.client
import re
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.servers.git_http import serve_git

PATIENCE = 60.0
"""Timeout of one response of the emulator, in seconds."""
_HOP_BY_HOP = frozenset({"connection", "date", "keep-alive", "server", "transfer-encoding"})
_NUMBER = re.compile(r"(?<=/)\d+(?=/|$)")


@dataclass
class Front:
    """The front's configuration, and the App's requests that the emulator answered, by status."""

    repository: Path
    name: str
    """The repository's name on the emulator, ``owner/name``."""
    emulator: str = ""
    """Host and port."""
    url: str = ""
    answered: Counter[tuple[int, str]] = field(default_factory=Counter)
    fetched_by: set[str] = field(default_factory=set)
    """The kinds of token, such as ``ghs``, that git sent and the emulator accepted."""

    def ask(
        self, method: str, path: str, body: bytes, headers: dict[str, str]
    ) -> tuple[int, list[tuple[str, str]], bytes]:
        """Send a request to the emulator; return the status, headers and body of its response."""
        with closing(http.client.HTTPConnection(self.emulator, timeout=PATIENCE)) as connection:
            connection.request(method, path, body, headers)
            with connection.getresponse() as answer:
                return answer.status, answer.getheaders(), answer.read()

    def refused(self) -> dict[str, int]:
        """Return the App's requests that the emulator answered with an error, without their numbers and queries."""
        return {request: status for status, request in self.answered if status >= 400}


@contextmanager
def front_of(repository: Path, name: str) -> Iterator[Front]:
    """Serve the front; set ``emulator`` once the emulator listens."""
    front = Front(repository, name)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(front))
    front.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield front
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(front: Front) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = PATIENCE

        def do_GET(self) -> None:
            begins = f"/{front.name}.git/"
            if self.path.startswith(begins):
                self._git(self.path.removeprefix(begins))
            else:
                self._pass()

        do_POST = do_PUT = do_PATCH = do_DELETE = do_GET  # noqa: N815

        def _git(self, path: str) -> None:
            """Serve the repository to clients whose token the emulator accepts for it, as GitHub does."""
            token = _password(self.headers.get("Authorization", ""))
            status, _, _ = front.ask("GET", f"/repos/{front.name}", b"", {"Authorization": f"Bearer {token}"})
            if not token or status != 200:
                self.send_response(401)
                self.send_header("WWW-Authenticate", "Basic")
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            front.fetched_by.add(token.partition("_")[0])
            split = urlsplit(path)
            serve_git(self, front.repository, split.path, split.query)

        def _pass(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, headers, content = front.ask(self.command, self.path, body, dict(self.headers))
            if "tracehound" in self.headers.get("User-Agent", ""):
                front.answered[status, f"{self.command} {_NUMBER.sub('N', urlsplit(self.path).path)}"] += 1
            self.send_response(status)
            for name, value in headers:
                if name.lower() not in _HOP_BY_HOP | {"content-length"}:
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *args: Any) -> None:
            """Log nothing."""

    return Handler


def _password(authorization: str) -> str:
    """Return the password of a Basic header; empty if there is none."""
    try:
        return base64.b64decode(authorization.removeprefix("Basic ")).decode().partition(":")[2]
    except ValueError:
        return ""
