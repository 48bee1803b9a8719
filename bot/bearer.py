"""Who may ask what only the operator may: whoever shows a token that the settings name."""

from __future__ import annotations

import hmac

from pydantic import SecretStr
from starlette.requests import Request
from starlette.responses import JSONResponse, Response


def bears(request: Request, *tokens: SecretStr | None) -> bool:
    """Whether a request shows one of these tokens as its bearer; a token that is not set is nobody's."""
    scheme, _, shown = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer":
        return False
    given = shown.strip().encode()
    # Each is compared, and in constant time: how long it takes says nothing of any.
    return any([hmac.compare_digest(given, token.get_secret_value().encode()) for token in tokens if token])  # noqa: C419


def refused() -> Response:
    """The answer to everybody else, which says nothing of what there is."""
    return JSONResponse({"error": "a bearer token is needed"}, 401, {"WWW-Authenticate": "Bearer"})
