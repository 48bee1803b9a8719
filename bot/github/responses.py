"""Check that a response is GitHub's, decode its JSON, and map unsuccessful responses to errors."""

import json
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

from bot import errors

_NO_CONTENT = frozenset({202, 204, 205})
"""Successful statuses whose body may be empty."""
NOT_MODIFIED = 304
_NAMES = re.compile(r"([a-z_]{1,40})=")
_CLOCK_WRONG = 45.0
"""Seconds; GitHub accepts a signature from a clock that is up to a minute ahead."""
_LATER = re.compile(
    r"rate[ -]limit|abuse detection|submitted too quickly|wait a few minutes|has been spammed", re.IGNORECASE
)
"""Reasons of refusals without a header that are limits: GitHub has no code for them."""
_MAX_WAIT = 6 * 3600.0
"""Seconds; a longer wait in a header is cut to this."""


class UndecodableError(errors.RetryableError):
    """The response is not GitHub's: HTML, a truncated body, or JSON of another shape. It proves nothing."""


@dataclass(frozen=True, slots=True)
class GitHubResponse:
    """A successful response: decoded, and of the type that GitHub sends; UndecodableError if it is of another."""

    status_code: int
    data: Any
    """The decoded JSON; None if the body is empty."""
    etag: str = ""
    next_url: str = ""
    """The address of the next page; empty if there is none."""
    content: bytes = b""
    """The undecoded body."""

    def object(self) -> Mapping[str, Any]:
        """Return the JSON object."""
        if not isinstance(self.data, dict):
            raise UndecodableError("GitHub's response is not a JSON object")
        return self.data

    def objects(self) -> list[Mapping[str, Any]]:
        """Return the JSON list of objects."""
        if not isinstance(self.data, list) or not all(isinstance(item, dict) for item in self.data):
            raise UndecodableError("GitHub's response is not a list of JSON objects")
        return self.data


class TokenRefusedError(errors.RetryableError):
    """GitHub rejected the token, so nothing was done: the token was revoked, or the clocks differ."""


def answer_of(response: httpx.Response, *, conditional: bool = False) -> GitHubResponse:
    """Decode a successful response.

    ``conditional``: the request had an ETag, so that 304 is a success.

    Raises:
        UndecodableError: The response is not GitHub's; the result of the request is unknown.
        OutcomeUnknownError: The same for a POST, which may have been executed.
    """
    status = response.status_code
    if (status == NOT_MODIFIED and conditional) or (status in _NO_CONTENT and not response.content):
        return GitHubResponse(status, None)
    if not 200 <= status < 300 or not _says_json(response):
        raise undecodable(response)
    try:
        data = json.loads(response.content)
    # A deeply nested body raises RecursionError, which is not a ValueError.
    except (ValueError, RecursionError) as error:
        raise undecodable(response) from error
    next_url = response.links.get("next", {}).get("url", "")
    return GitHubResponse(status, data, response.headers.get("etag", ""), next_url, response.content)


def _refusal_of(response: httpx.Response) -> Mapping[str, Any]:
    """Return GitHub's own JSON object with a message; empty for a proxy's answer, whose 404 proves nothing."""
    try:
        data = json.loads(response.content) if _says_json(response) else {}
    except (ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) and isinstance(data.get("message"), str) else {}


def undecodable(response: httpx.Response) -> errors.BotError:
    """Return the error for a response that GitHub did not send."""
    method, size = response.request.method, len(response.content)
    kind = " ".join(response.headers.get("content-type", "no content type").split())[:60]
    description = f"the answer to {method} is not GitHub's: status {response.status_code}, {kind}, {size} bytes"
    return errors.OutcomeUnknownError(description) if method == "POST" else UndecodableError(description)


@contextmanager
def expect_shape(what: str) -> Iterator[None]:
    """Turn errors from reading JSON of an unexpected shape into an ``UndecodableError``, which is retried."""
    try:
        yield
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise UndecodableError(f"GitHub's response is not {what}: {type(error).__name__}") from error


def fault_of(response: httpx.Response) -> errors.BotError:
    """Return the error for an unsuccessful status. Only GitHub's own response proves absence or refusal."""
    status, method = response.status_code, response.request.method
    description = f"GitHub answered {status} to {method}: {message(response)}"
    if is_limited(response):
        spent = response.headers.get("x-ratelimit-remaining") == "0"
        return errors.RateLimitedError(description, after=retry_after(response), whole=spent, limit="github.limit")
    # The server may have executed the request before it failed, so a POST has an unknown outcome.
    if status >= 500 or status == 408:
        return errors.OutcomeUnknownError(description) if method == "POST" else errors.RetryableError(description)
    return _refusal(response, description) if _refusal_of(response) else undecodable(response)


def is_signed_by_app(request: httpx.Request) -> bool:
    """Return whether the App's own signature authorizes a request: a JSON web token, whose first byte is a brace."""
    return str(request.headers.get("authorization", "")).startswith("Bearer eyJ")


def is_limited(response: httpx.Response) -> bool:
    """Return whether a response means "later". GitHub uses 403 and 422 for limits and for many other refusals."""
    status, headers = response.status_code, response.headers
    if status not in (403, 422):
        return status == 429
    names_wait = "retry-after" in headers or (status == 403 and headers.get("x-ratelimit-remaining") == "0")
    return names_wait or _LATER.search(_reasons(response)) is not None


def retry_after(response: httpx.Response) -> float | None:
    """Return the seconds to wait, from a number, a date or the limit's reset time; None if there is none."""
    given = response.headers.get("retry-after", "").strip()
    # RFC 9110 allows seconds or a date. GitHub sends seconds, but a proxy may send a date.
    if given.isdecimal():
        return _bounded(float(given))
    if given:
        try:
            return _bounded(parsedate_to_datetime(given).timestamp() - time.time())
        except ValueError:
            return None
    reset = response.headers.get("x-ratelimit-reset", "").strip()
    if response.headers.get("x-ratelimit-remaining") == "0" and reset.isdecimal():
        # An absolute time on GitHub's clock; `_bounded` limits the error if ours is wrong.
        return _bounded(float(reset) - time.time())
    return None


def message(response: httpx.Response) -> str:
    """Return GitHub's error message (one line, at most 200 characters), else the reason phrase of the status."""
    try:
        detail = response.json()["message"]
    except (ValueError, KeyError, TypeError):
        return response.reason_phrase or "no reason given"
    return " ".join(str(detail).split())[:200]


def _says_json(response: httpx.Response) -> bool:
    kind: str = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    return kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json"))


def _refusal(response: httpx.Response, description: str) -> errors.BotError:
    """Return the error for a response in which GitHub itself refuses the request."""
    status = response.status_code
    reason = message(response).lower()
    # GitHub does not recognize the App. An operator can fix that, so the error is retried.
    by_app = status == 401 and is_signed_by_app(response.request)
    if by_app or (status == 404 and "integration not found" in reason):
        return errors.AppRefusedError(f"{_cause(response)}: {description}")
    by_status: dict[int, type[errors.BotError]] = {401: TokenRefusedError, 404: errors.GoneError, 410: errors.GoneError}
    if status != 403:
        return by_status.get(status, errors.RefusedError)(description)
    # GitHub has no code for these refusals, so its message decides.
    if "suspended" in reason:
        return errors.SuspendedError(description)
    if "not accessible by integration" in reason:
        # The header names permissions, as in ``issues=write,contents=read``.
        named = _NAMES.findall(response.headers.get("x-accepted-github-permissions", "")[:500])
        return errors.MissingPermissionError(description, permissions=tuple(named))
    return errors.RefusedError(description)


def _cause(response: httpx.Response) -> str:
    """Return what an operator has to check, by GitHub's clock."""
    try:
        ahead = time.time() - parsedate_to_datetime(response.headers["date"]).timestamp()
    except (KeyError, ValueError):
        return "check GITHUB_APP_ID, the App's private key and this machine's clock"
    if abs(ahead) < _CLOCK_WRONG:
        return "check GITHUB_APP_ID and the App's private key"
    return f"this machine's clock is {timedelta(seconds=abs(round(ahead)))} {'ahead' if ahead > 0 else 'behind'}"


def _reasons(response: httpx.Response) -> str:
    """Return the reasons in GitHub's own refusal: its message, those of its errors, the page that explains it."""
    refusal = _refusal_of(response)
    listed = refusal.get("errors")
    items = listed[:10] if isinstance(listed, list) else []
    details = [item.get("message") for item in items if isinstance(item, dict)]
    reasons = (refusal.get("message"), refusal.get("documentation_url"), *details)
    return " ".join(str(reason)[:300] for reason in reasons)


def _bounded(seconds: float) -> float:
    return min(max(seconds, 1.0), _MAX_WAIT)
