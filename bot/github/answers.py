"""Checks that a response is GitHub's and decodes its JSON. A proxy's page or a truncated body is an error."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from bot.errors import BotError, OutcomeUnknownError, RetryableError

_NO_CONTENT = frozenset({202, 204, 205})
"""Successful statuses whose body may be empty."""
NOT_MODIFIED = 304


class UndecodableError(RetryableError):
    """The response is not GitHub's: HTML, a truncated body, or JSON of another shape. It proves nothing."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A successful response: decoded, and of the type that GitHub sends."""

    status_code: int
    data: Any
    """The decoded JSON; None if the body is empty."""
    etag: str = ""
    has_next: bool = False
    """A further page follows."""
    next_url: str = ""
    content: bytes = b""
    """The undecoded body."""

    def object(self) -> Mapping[str, Any]:
        """The JSON object.

        Raises:
            UndecodableError: The JSON is not an object.
        """
        if not isinstance(self.data, dict):
            raise UndecodableError("GitHub's answer is not a JSON object")
        return self.data

    def objects(self) -> list[Mapping[str, Any]]:
        """The JSON list of objects.

        Raises:
            UndecodableError: The JSON is not a list of objects.
        """
        if not isinstance(self.data, list) or not all(isinstance(item, dict) for item in self.data):
            raise UndecodableError("GitHub's answer is not a list of JSON objects")
        return self.data


def answer_of(response: httpx.Response, *, conditional: bool = False) -> Answer:
    """Decode a successful response.

    Args:
        response: The server's response.
        conditional: The request had an ETag, so that 304 is a success.

    Raises:
        UndecodableError: The response is not GitHub's; the result of the request is unknown.
        OutcomeUnknownError: The same for a POST, which may have been executed.
    """
    status = response.status_code
    if (status == NOT_MODIFIED and conditional) or (status in _NO_CONTENT and not response.content):
        return Answer(status, None)
    if not 200 <= status < 300 or not _says_json(response):
        raise undecodable(response)
    try:
        data = json.loads(response.content)
    except (ValueError, RecursionError) as error:
        raise undecodable(response) from error
    next_url = response.links.get("next", {}).get("url", "")
    return Answer(status, data, response.headers.get("etag", ""), bool(next_url), next_url, response.content)


def is_githubs(response: httpx.Response) -> bool:
    """Whether an error is GitHub's own: a JSON object with a message. A proxy's 404 proves nothing about an issue."""
    if not _says_json(response):
        return False
    try:
        data = json.loads(response.content)
    except (ValueError, RecursionError):
        return False
    return isinstance(data, dict) and isinstance(data.get("message"), str)


def undecodable(response: httpx.Response) -> BotError:
    """The error for a response that GitHub did not send."""
    method = response.request.method
    kind = " ".join(response.headers.get("content-type", "no content type").split())[:60]
    says = (
        f"the answer to {method} is not GitHub's: status {response.status_code}, {kind}, {len(response.content)} bytes"
    )
    return OutcomeUnknownError(says) if method == "POST" else UndecodableError(says)


@contextmanager
def shaped(what: str) -> Iterator[None]:
    """Turn errors from reading JSON of an unexpected shape into an error that is retried.

    Raises:
        UndecodableError: A field is missing, or has another type.
    """
    try:
        yield
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise UndecodableError(f"GitHub's answer is not {what}: {type(error).__name__}") from error


def _says_json(response: httpx.Response) -> bool:
    kind: str = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    return kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json"))
