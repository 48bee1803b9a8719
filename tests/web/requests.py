"""Requests without a server."""

from __future__ import annotations

from starlette.requests import Request


def request(path: str = "/", method: str = "GET", **headers: str) -> Request:
    """Return a request as a server passes it on."""
    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    return Request(
        {
            "type": "http",
            "method": method,
            "path": path,
            "query_string": b"",
            "headers": raw,
            "scheme": "http",
            "server": ("127.0.0.1", 80),
            "client": ("127.0.0.1", 1),
        }
    )
