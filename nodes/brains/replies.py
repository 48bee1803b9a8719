"""Interpret a model's reply: an object, an invalid answer, or no answer."""

from __future__ import annotations

import json
import re
import time
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from nodes.context import ModelError
from nodes.state import Usage

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage
    from openai import APIError, LengthFinishReasonError

_MENTIONS_OUR_REQUEST = re.compile(
    r"response_?format|json_?schema|json_?object|structured|tool|function|schema|strict|grammar", re.IGNORECASE
)
_BUSY = frozenset({408, 409, 429})
_NUMBER = re.compile(r"\d{1,9}(\.\d{1,9})?")
_FIRST_PAUSE, _LAST_PAUSE, _LONGEST = 0.5, 8.0, 6 * 3_600.0
"""Seconds. A header that asks for more than the last value is capped at it."""


class InvalidOutput(Exception):  # noqa: N818  it is an answer, and one correction may fix it
    """The model answered, but not in the requested form; the message says what is wrong."""

    def __init__(self, message: str, usage: Usage | None = None) -> None:
        super().__init__(message)
        self.usage = usage or Usage(calls=1)


class BusyError(ModelError):
    """No answer arrived this time; a retry may succeed."""

    def __init__(self, message: str, *, after: float | None, limited: bool) -> None:
        super().__init__(message)
        self.after = after
        self.limited = limited and after is not None
        """Whether the server gave a waiting time because of its rate limit."""

    def pause(self, attempt: int) -> float:
        """Return the seconds to wait before a retry; ``attempt`` counts from 0."""
        return min(_FIRST_PAUSE * 2.0**attempt, _LAST_PAUSE) if self.after is None else self.after


def read_object(message: AIMessage) -> dict[str, Any]:
    """Find the JSON object in a model's message, for every request method.

    Raises:
        ModelError: The model refused, or a filter stopped the answer.
        InvalidOutput: The message contains no complete object.
    """
    if message.additional_kwargs.get("refusal"):
        raise ModelError("the model refused to answer")
    finish = message.response_metadata.get("finish_reason")
    if finish == "content_filter":
        raise ModelError("the provider's content filter stopped the answer")
    if finish == "length":
        raise InvalidOutput("the answer was cut off for its length; be brief")
    if message.tool_calls:
        return message.tool_calls[0]["args"]
    if message.invalid_tool_calls:
        return _decode(message.invalid_tool_calls[0]["args"] or "")
    return _decode(message.text)


def usage_of(message: AIMessage) -> Usage:
    """Return the usage of one call, as far as the server reports it."""
    tokens = message.usage_metadata
    if tokens is None:
        return Usage(calls=1)
    return Usage(calls=1, input_tokens=tokens["input_tokens"], output_tokens=tokens["output_tokens"])


def usage_of_cut(error: LengthFinishReasonError) -> Usage:
    """Return the usage of an answer that was cut off."""
    tokens = error.completion.usage
    if tokens is None:
        return Usage(calls=1)
    return Usage(calls=1, input_tokens=tokens.prompt_tokens, output_tokens=tokens.completion_tokens)


def is_unsupported(error: APIError) -> bool:
    """Return whether the server rejects the request method rather than the question."""
    status = getattr(error, "status_code", None)
    if "context" in str(error).lower():
        return False  # "reduce the length of the messages or functions": another method makes the request no shorter
    return status in {400, 404, 422, 501} and _MENTIONS_OUR_REQUEST.search(str(error)) is not None


def fault_of(error: APIError) -> ModelError:
    """Classify a failed request: a temporary failure (BusyError), or a permanent one."""
    status = getattr(error, "status_code", None)
    if status is None or status in _BUSY or status >= 500:
        return BusyError(describe(error), after=_retry_after(error), limited=status == 429)
    return ModelError(describe(error))


def _retry_after(error: APIError) -> float | None:
    """Return the seconds that the server requested; None if it gave no valid value."""
    response = getattr(error, "response", None)
    headers = {} if response is None else response.headers
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        given = headers.get(name, "").strip()
        if _NUMBER.fullmatch(given):
            return min(float(given) * unit, _LONGEST)
    try:
        at = parsedate_to_datetime(headers.get("retry-after", "")).timestamp()
    except (ValueError, TypeError):
        return None
    return min(max(at - time.time(), 0.0), _LONGEST)


def describe(error: APIError) -> str:
    """Describe a failed request in one line, without the text that the server quoted."""
    status = getattr(error, "status_code", None)
    if status is None:
        return f"the model could not be reached ({type(error).__name__})"
    if status == 400 and "temperature" in str(error).lower():
        return "the model does not accept the required temperature (HTTP 400)"
    if status == 400 and "context" in str(error).lower():
        return "the prompt is too long for the model (HTTP 400)"
    meaning = {
        401: "the key is not valid",
        403: "access is denied",
        404: "there is no such model",
        429: "too many calls",
    }
    return f"the model's server answered HTTP {status}" + (f": {meaning[status]}" if status in meaning else "")


def _decode(text: str) -> dict[str, Any]:
    text = text.rpartition("</think>")[2]  # local models print their reasoning before the answer
    if not text.strip():
        raise InvalidOutput("the answer was empty")
    start = text.find("{")
    if start < 0:
        raise InvalidOutput("the answer contains no JSON object")
    try:
        decoded, _ = json.JSONDecoder(strict=False, parse_constant=_refuse).raw_decode(text, start)
    except (ValueError, RecursionError) as error:
        raise InvalidOutput(f"the answer is not valid JSON: {error}") from error
    return dict(decoded)


def _refuse(constant: str) -> None:
    """Reject NaN and Infinity: Python parses them, but JSON does not have them, and bounds cannot check them."""
    raise ValueError(f"{constant} is not JSON")
