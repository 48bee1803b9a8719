"""Interpret a model's reply: an object, an invalid answer, or no answer."""

from __future__ import annotations

import ast
import json
import re
import time
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from nodes.brains.calls.abilities import FailedRequest
from nodes.context.brain import ModelError
from nodes.state import Usage

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage
    from openai import APIError

_AGAIN = re.compile(r"(?:try again|retry) (?:in|after) (?:(\d{1,4})m ?)?(\d{1,6}(?:\.\d{1,9})?) ?s", re.IGNORECASE)
"""The waiting time in the text of a server that sends no header."""
_NUMBER = re.compile(r"\d{1,9}(\.\d{1,9})?")
_FIRST_PAUSE, _LAST_PAUSE, _MAX_PAUSE = 0.5, 8.0, 6 * 3_600.0
"""Seconds: the first pause, the longest one without a header, and the maximum that a header can request."""

_THOUGHT = re.compile(
    r"</(?:think|thinking|thought|reasoning)>|<\|channel\|>final[^<]{0,20}(?:<\|constrain\|>[^<]{0,20})?<\|message\|>"
)
_MARKS = re.compile(r"(?:<\|[a-z_]{1,20}\|>\s{0,9}){1,9}\Z")
"""Marks of a chat template after an answer."""
_REPAIRED = re.compile(
    r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*[^*]{0,400}\*/|,(?=\s{0,200}[}\]])|\b(?:True|False|None)\b', re.DOTALL
)
"""Strings, which stay, and what small models write although JSON does not have it."""
_ESCAPE = re.compile(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})|\\')
"""An escape of JSON, or a backslash alone."""
_LITERALS = {"True": "true", "False": "false", "None": "null"}
_LONGEST_DICT = 20_000
"""Maximum characters of an answer that is read as a dict of Python."""
_TRIED = 40
"""Maximum number of opening braces of an answer at which parsing of an object is tried."""


class InvalidOutput(ModelError):  # noqa: N818  it is an answer, and one correction may fix it
    """The model answered, but not in the requested form; the message says what is wrong."""

    def __init__(
        self, message: str, usage: Usage | None = None, *, ignored: bool = False, cut: bool = False, answer: str = ""
    ) -> None:
        super().__init__(message, usage or Usage(calls=1))
        self.ignored = ignored
        """Whether the server ignored the request for JSON, so that another method should be used."""
        self.cut = cut
        """Whether the answer was cut off at the output limit."""
        self.answer = answer
        """The rejected answer."""


class BusyError(ModelError):
    """No answer arrived this time; a retry may succeed."""

    def __init__(self, message: str, *, after: float | None, limited: bool, answered: bool = True) -> None:
        super().__init__(message)
        self.after = after
        self.answered = answered
        """Whether the server answered at all."""
        self.limited = limited and after is not None
        """Whether the server gave a waiting time because of its rate limit."""

    def pause(self, attempt: int) -> float:
        """Return the seconds to wait before a retry; ``attempt`` counts from 0."""
        return min(_FIRST_PAUSE * 2.0**attempt, _LAST_PAUSE) if self.after is None else self.after


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """A model's answer: its objects in the order in which to try them, and its text."""

    objects: tuple[dict[str, Any], ...]
    text: str
    plain: bool
    """Whether the answer is one JSON object and nothing else, which every method except `prompt` guarantees."""


def read_answer(message: AIMessage) -> ModelAnswer:
    """Find the JSON objects in a model's message, for every request method.

    Raises:
        ModelError: The model refused, or a filter stopped the answer.
        InvalidOutput: The message contains no complete object.
    """
    if message.additional_kwargs.get("refusal"):
        raise ModelError("the model refused to answer")
    finish = message.response_metadata.get("finish_reason")
    if finish == "content_filter":
        raise ModelError("the provider's content filter stopped the answer")
    # Independent of the requested method: an answer in another form is still an answer.
    if message.tool_calls:
        arguments = message.tool_calls[0]["args"]
        return ModelAnswer((arguments,), json.dumps(arguments, ensure_ascii=False), plain=True)
    called = message.invalid_tool_calls[0]["args"] if message.invalid_tool_calls else None
    text = message.text if called is None else called
    try:
        answer = _decode(text)
    except InvalidOutput as invalid:
        if finish != "length" and not invalid.cut:
            raise
        answer = None
    if answer is None or (finish == "length" and not answer.plain):
        raise InvalidOutput("the answer was cut off for its length; be brief", cut=True, answer=text)
    return answer


def repaired(arguments: str) -> dict[str, Any]:
    """Return the arguments of a call that are not valid JSON, repaired; empty if they cannot be."""
    try:
        return _decode(arguments).objects[0]
    except InvalidOutput:
        return {}


def usage_of(message: AIMessage) -> Usage:
    """Return the usage of one call, as far as the server reports it."""
    tokens = message.usage_metadata
    if tokens is None:
        return Usage(calls=1)
    into, details = tokens["input_tokens"], tokens.get("input_token_details") or {}
    cached = min(max(details.get("cache_read") or 0, 0), into)
    return Usage(calls=1, input_tokens=into, output_tokens=tokens["output_tokens"], cached_tokens=cached)


def fault_of(error: APIError) -> ModelError:
    """Classify a failed request: a temporary failure (BusyError), or a permanent one."""
    fault = FailedRequest.of(error)
    description, status = describe(fault, type(error).__name__), fault.status
    if not fault.is_temporary:
        return ModelError(description)
    return BusyError(description, after=_retry_after(error), limited=status == 429, answered=status is not None)


def fault_in(fault: FailedRequest) -> ModelError:
    """Classify an error in the body of a response with status 200; routers send such errors."""
    if not fault.is_temporary:
        return ModelError(describe(fault))
    code = "an error" if fault.status is None else f"error {fault.status}"
    return BusyError(f"the model's server answered HTTP 200 with {code} inside", after=None, limited=False)


def _retry_after(error: APIError) -> float | None:
    """Return the seconds that the server requested; None if it gave no valid value."""
    response = getattr(error, "response", None)
    headers = {} if response is None else response.headers
    # The more precise header first.
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name, "").strip()
        if _NUMBER.fullmatch(value):
            return min(float(value) * unit, _MAX_PAUSE)
    try:
        at = parsedate_to_datetime(headers.get("retry-after", "")).timestamp()
    except (ValueError, TypeError):
        named = _AGAIN.search(str(error))
        return min(60.0 * int(named[1] or 0) + float(named[2]), _MAX_PAUSE) if named else None
    return min(max(at - time.time(), 0.0), _MAX_PAUSE)


def describe(fault: FailedRequest, kind: str = "") -> str:
    """Describe a failed request in one line, without the text that the server quoted."""
    status = fault.status
    if status is None:
        return f"the model could not be reached ({kind})"
    if fault.is_credit:
        return f"the model's account has no credit left (HTTP {status})"
    if fault.is_filter:
        return f"the provider's content filter stopped the question (HTTP {status})"
    if fault.is_context:
        return f"the prompt is too long for the model (HTTP {status})"
    if status == 400 and "temperature" in fault.parts:
        return "the model refuses requests with and without a temperature (HTTP 400)"
    meaning = {401: ": the key is not valid", 403: ": access is denied", 404: ": there is no such model"}
    return f"the model's server answered HTTP {status}{(meaning | {429: ': too many calls'}).get(status, '')}"


def _decode(text: str) -> ModelAnswer:
    """Find the objects in a text: first after the reasoning that local models print, then anywhere."""
    answer = _MARKS.sub("", _THOUGHT.split(text)[-1].strip() or text.strip()).strip()
    if not answer:
        raise InvalidOutput("the answer was empty")
    answer = _unquoted(answer)
    objects, why = _objects(answer)
    if why:
        objects = (*_objects(_REPAIRED.sub(_repair, answer))[0], *objects)
    if why and not objects:
        objects = _written_in_python(answer)
    if not objects and answer != text.strip():
        objects, _ = _objects(text)
    if not objects:
        prose = not answer.startswith(("{", "["))
        cut = answer.startswith("{") and not answer.endswith("}")
        raise InvalidOutput(why or "the answer contains no JSON object", ignored=prose, cut=cut, answer=answer)
    plain = answer.startswith("{") and answer.endswith("}")
    return ModelAnswer(objects, answer, plain)


def _unquoted(answer: str) -> str:
    """Return the content of an answer that is a JSON string instead of an object."""
    if not (answer.startswith('"') and answer.endswith('"')):
        return answer
    try:
        decoded = json.loads(answer, strict=False)
    except (ValueError, RecursionError):
        return answer
    return str(decoded).strip() or answer


def _repair(found: re.Match[str]) -> str:
    piece = found[0]
    if not piece.startswith('"'):
        return _LITERALS.get(piece, "")
    # A regular expression has backslashes that models do not escape.
    return _ESCAPE.sub(lambda escape: escape[0] if len(escape[0]) > 1 else r"\\", piece)


def _written_in_python(answer: str) -> tuple[dict[str, Any], ...]:
    """Return an object that is written as a dict of Python, with single quotes; empty if the answer is not a dict."""
    start, end = answer.find("{"), answer.rfind("}") + 1
    if not 0 <= start < end or end - start > _LONGEST_DICT:
        return ()
    try:
        # Written again as JSON, because a set, bytes or a number that is not finite has no place in an answer.
        decoded = json.loads(json.dumps(ast.literal_eval(answer[start:end]), allow_nan=False))
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return ()
    return (decoded,) if isinstance(decoded, dict) else ()


def _objects(text: str) -> tuple[tuple[dict[str, Any], ...], str]:
    """Return the objects in a text in the order in which to try them, and why the first one is malformed.

    The last one comes first, because a model that reasons aloud writes drafts before its answer. Objects inside others
    follow, the first one first: models wrap the answer in another object.
    """
    # ``strict=False`` accepts line feeds inside strings, which local models write.
    decoder = json.JSONDecoder(strict=False, parse_constant=_refuse)
    outer, inner, why, end, start = list[dict[str, Any]](), list[dict[str, Any]](), "", 0, text.find("{")
    for _ in range(_TRIED):
        if start < 0:
            break
        try:
            decoded, after = decoder.raw_decode(text, start)
            (inner if start < end else outer).append(decoded)
            end = max(end, after)
        except (ValueError, RecursionError) as error:
            why = why or f"the answer is not valid JSON: {error}"
        start = text.find("{", start + 1)
    return (*reversed(outer), *inner), why


def _refuse(constant: str) -> None:
    """Reject NaN and Infinity: Python parses them, but JSON does not have them, and bounds cannot check them."""
    raise ValueError(f"{constant} is not JSON")
