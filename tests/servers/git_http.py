"""Serves a local repository to git clients over HTTP, as GitHub does: git's own http-backend behind a check."""

from __future__ import annotations

import functools
import subprocess
from http.server import BaseHTTPRequestHandler
from pathlib import Path

from tests.support.repositories import git


def serve_git(handler: BaseHTTPRequestHandler, repository: Path, path: str, query: str) -> None:
    """Answer one request of a git client for ``path`` inside the repository, such as ``info/refs``."""
    length = int(handler.headers.get("Content-Length") or 0)
    environment = {
        "GIT_PROJECT_ROOT": str(repository),
        "GIT_HTTP_EXPORT_ALL": "1",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "safe.directory",
        "GIT_CONFIG_VALUE_0": "*",
        "PATH_INFO": f"/{path}",
        "QUERY_STRING": query,
        "REQUEST_METHOD": handler.command,
        "CONTENT_TYPE": handler.headers.get("Content-Type", ""),
        "CONTENT_LENGTH": str(length),
        "HTTP_CONTENT_ENCODING": handler.headers.get("Content-Encoding", ""),
        "GIT_PROTOCOL": handler.headers.get("Git-Protocol", ""),
        "REMOTE_ADDR": "127.0.0.1",
    }
    body = handler.rfile.read(length)
    done = subprocess.run([_backend()], env=environment, input=body, capture_output=True, check=True)
    head, _, content = done.stdout.partition(b"\r\n\r\n")
    lines = [line.split(": ", 1) for line in head.decode().split("\r\n")]
    headers = {name.lower(): value for name, value in lines}
    handler.send_response(int(headers.pop("status", "200").split()[0]))
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.send_header("Content-Length", str(len(content)))
    handler.end_headers()
    handler.wfile.write(content)


@functools.cache
def _backend() -> Path:
    return Path(git(Path(), "--exec-path").decode().strip()) / "git-http-backend"
