"""Who may ask what only the operator may: whoever shows a token that the settings name."""

from __future__ import annotations

import hmac
from hashlib import sha256

from pydantic import SecretStr
from starlette.requests import Request
from starlette.responses import JSONResponse, Response


def same_token(shown: str, token: str) -> bool:
    """Whether two tokens are equal, in a time that depends on neither of them nor on their lengths."""
    digests = [sha256(one.encode("utf-8", "surrogateescape")).digest() for one in (shown, token)]
    return hmac.compare_digest(*digests)


def bears(request: Request, *tokens: SecretStr | None) -> bool:
    """Whether a request shows one of these tokens as its bearer; a token that is not set is nobody's."""
    scheme, _, shown = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer":
        return False
    # All are compared: the time that it takes must not tell which one is right.
    return any([same_token(shown.strip(), token.get_secret_value()) for token in tokens if token])  # noqa: C419


def refused() -> Response:
    """The answer to everybody else, which says nothing of what there is."""
    return JSONResponse({"error": "a bearer token is needed"}, 401, {"WWW-Authenticate": "Bearer"})
