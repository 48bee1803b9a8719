"""Authenticate the operator's requests by bearer tokens from the settings."""

from __future__ import annotations

import hmac
from hashlib import sha256

from pydantic import SecretStr
from starlette.requests import Request
from starlette.responses import JSONResponse, Response


def same_token(shown: str, token: str) -> bool:
    """Compare two tokens in constant time, independent of their content and length."""
    # compare_digest leaks the length of unequal inputs; digests have one length.
    digests = [sha256(one.encode("utf-8", "surrogateescape")).digest() for one in (shown, token)]
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
