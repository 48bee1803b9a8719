"""Security headers against foreign files, framing and sniffing, and cross-site request protection, for every page."""

import hmac
from collections.abc import Mapping
from hashlib import sha256
from urllib.parse import urlsplit

from pydantic import SecretStr
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_READS = frozenset({"GET", "HEAD", "OPTIONS"})


def content_policy(form_action: str = "'self'") -> str:
    """Return the Content-Security-Policy: only our own files, and forms to us or to other addresses."""
    ours = "; ".join(f"{kind}-src 'self'" for kind in ("style", "script", "img", "connect"))
    return f"default-src 'none'; {ours}; form-action {form_action}; base-uri 'none'; frame-ancestors 'none'"


_HEADERS = {
    "content-security-policy": content_policy(),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",  # with no-referrer, browsers send forms with "Origin: null"
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}


class Shield:
    """Middleware that adds security headers a response has not set, and refuses writes from pages of other sites."""

    def __init__(self, app: ASGIApp, public_url: str | None = None) -> None:
        """Wrap an application; ``public_url`` is its address if a proxy in front sends another Host header."""
        self._app = app
        self._public = urlsplit(public_url or "").netloc

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_shielded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    # Assets set their own cache-control, and the setup form its own policy.
                    headers.setdefault(name, value)
            await send(message)

        headers = Headers(scope=scope)
        # The API reads no cookie, so what it answers without a token is its own 401.
        by_token = "authorization" in headers or scope["path"].startswith("/api/")
        is_ours = scope["method"] in _READS or by_token or sent_by_us(headers, self._public)
        takes = self._app if is_ours else PlainTextResponse("sent by another site\n", 403)
        await takes(scope, receive, send_shielded)


def sent_by_us(headers: Mapping[str, str], public: str = "") -> bool:
    """Return whether the browser states that a page of this host sent the request; False if it states nothing.

    Browsers attach a cookie to forms of any site, but never an ``Authorization`` token, so ``Shield`` does not check
    requests with that header.
    """
    # The browser sets this header itself, and no page can change it. Older browsers only send Origin.
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    origin = urlsplit(headers.get("origin", "")).netloc
    return bool(origin) and origin in (headers.get("host", ""), public)


def same_token(shown: str, token: str) -> bool:
    """Compare two tokens in constant time, independent of their content and length."""
    # compare_digest leaks the length of unequal inputs; digests have one length.
    digests = [sha256(fact.encode("utf-8", "surrogateescape")).digest() for fact in (shown, token)]
    return hmac.compare_digest(*digests)


def has_bearer_token(request: Request, *tokens: SecretStr | None) -> bool:
    """Return whether a request carries one of these tokens as its bearer token; an unset token never matches."""
    scheme, _, shown = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer":
        return False
    # Compare all tokens, so that the response time does not reveal which one matches.
    return any([same_token(shown.strip(), token.get_secret_value()) for token in tokens if token])  # noqa: C419


def refused() -> Response:
    """Return a 401 response that reveals nothing about the resource."""
    return JSONResponse({"error": "a bearer token is required"}, 401, {"WWW-Authenticate": "Bearer"})
