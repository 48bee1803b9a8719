"""Maps unsuccessful responses to errors."""

from __future__ import annotations

import re
import time
from email.utils import parsedate_to_datetime

import httpx

from bot.errors import (
    BotError,
    GoneError,
    MissingPermissionError,
    OutcomeUnknownError,
    RateLimitedError,
    RefusedError,
    RetryableError,
    SuspendedError,
)
from bot.github.answers import is_githubs, undecodable

_NAMES = re.compile(r"([a-z_]{1,40})=")
_LONGEST = 6 * 3600.0
"""Seconds; a longer wait in a header is cut to this."""


class TokenRefusedError(RetryableError):
    """GitHub rejected the token, so nothing was done: the token was revoked, or the clocks differ."""


def fault_of(response: httpx.Response) -> BotError:
    """The error for an unsuccessful status. Only GitHub's own response proves that something is gone or refused."""
    status, method = response.status_code, response.request.method
    says = f"GitHub answered {status} to {method}: {message(response)}"
    if is_limited(response):
        spent = response.headers.get("x-ratelimit-remaining") == "0"
        return RateLimitedError(says, after=retry_after(response), whole=spent, limit="github.limit")
    if status >= 500 or status == 408:
        return OutcomeUnknownError(says) if method == "POST" else RetryableError(says)
    return _refusal(response, says) if is_githubs(response) else undecodable(response)


def _refusal(response: httpx.Response, says: str) -> BotError:
    """The error for a response in which GitHub itself refuses the request."""
    status = response.status_code
    if status == 401 or _is_app_unknown(response):
        return _not_known(response, says)
    if status in (404, 410):
        return GoneError(says)
    return _refused(response, says)


def _refused(response: httpx.Response, says: str) -> RefusedError:
    reason = message(response).lower() if response.status_code == 403 else ""
    if "suspended" in reason:
        return SuspendedError(says)
    if "not accessible by integration" in reason:
        return MissingPermissionError(says, permissions=_accepted(response))
    return RefusedError(says)


def _accepted(response: httpx.Response) -> tuple[str, ...]:
    """The permissions that GitHub's header names, as in ``issues=write,contents=read``."""
    return tuple(_NAMES.findall(response.headers.get("x-accepted-github-permissions", "")[:500]))


def _not_known(response: httpx.Response, says: str) -> RetryableError:
    if _is_app_unknown(response):
        return RetryableError(f"check GITHUB_APP_ID, the App's private key and this machine's clock: {says}")
    return TokenRefusedError(says)


def _is_app_unknown(response: httpx.Response) -> bool:
    """Whether GitHub does not recognize the App. An operator can fix that, so the error is retried."""
    detail = message(response)
    return response.status_code in (401, 404) and ("JSON web token" in detail or "Integration not found" in detail)


def is_limited(response: httpx.Response) -> bool:
    """Whether a response is a primary or secondary rate limit. GitHub uses 403 for both and for many other refusals."""
    if response.status_code == 429:
        return True
    headers = response.headers
    names_wait = "retry-after" in headers or headers.get("x-ratelimit-remaining") == "0"
    return response.status_code == 403 and (names_wait or "rate limit" in message(response).lower())


def retry_after(response: httpx.Response) -> float | None:
    """Seconds to wait: from a number, a date, or the time at which the limit resets; None if there is none."""
    given = response.headers.get("retry-after", "").strip()
    if given.isdecimal():
        return _bounded(float(given))
    if given:
        try:
            return _bounded(parsedate_to_datetime(given).timestamp() - time.time())
        except ValueError:
            return None
    reset = response.headers.get("x-ratelimit-reset", "").strip()
    if response.headers.get("x-ratelimit-remaining") == "0" and reset.isdecimal():
        return _bounded(float(reset) - time.time())
    return None


def message(response: httpx.Response) -> str:
    """GitHub's error message on one line, at most 200 characters; without one the reason phrase of the status."""
    try:
        detail = response.json()["message"]
    except (ValueError, KeyError, TypeError):
        return response.reason_phrase or "no reason given"
    return " ".join(str(detail).split())[:200]


def _bounded(seconds: float) -> float:
    return min(max(seconds, 1.0), _LONGEST)
