"""What every page says to the browser: nothing but our own files, no frame, no guessing, no form from elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_READS = frozenset({"GET", "HEAD", "OPTIONS"})
_POLICY = {
    "default-src": "'none'",
    "style-src": "'self'",
    "script-src": "'self'",
    "img-src": "'self'",
    "connect-src": "'self'",
    "form-action": "'self'",
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
}


def content_policy(**other: str) -> str:
    """The Content-Security-Policy; ``form_action="'self' https://…"`` widens one line of it for one page."""
    lines = _POLICY | {name.replace("_", "-"): value for name, value in other.items()}
    return "; ".join(f"{name} {value}" for name, value in lines.items())


_HEADERS = {
    "content-security-policy": content_policy(),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",  # with no-referrer a browser would send forms with the origin null
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}


class Shield:
    """Sets these headers where an answer has not set its own, and refuses writes that another site's page sends."""

    def __init__(self, app: ASGIApp, public_url: str | None = None) -> None:
        """Guard an application.

        Args:
            app: what answers.
            public_url: where browsers find it, if a proxy in front tells it another host.
        """
        self._app = app
        self._public = urlsplit(public_url or "").netloc

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_shielded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        takes = self._app if self._is_ours(scope) else PlainTextResponse("sent by another site\n", 403)
        await takes(scope, receive, send_shielded)

    def _is_ours(self, scope: Scope) -> bool:
        headers = Headers(scope=scope)
        return scope["method"] in _READS or "authorization" in headers or sent_by_us(headers, self._public)


def sent_by_us(headers: Mapping[str, str], public: str = "") -> bool:
    """Whether a browser says that a page of this host sent a form; without a word of it the answer is no.

    A cookie comes with any site's form, a token in ``Authorization`` with none: what has one is not asked for.
    """
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    origin = urlsplit(headers.get("origin", "")).netloc
    return bool(origin) and origin in (headers.get("host", ""), public)
