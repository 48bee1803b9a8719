"""Ask a model for one value of a known type, with one correction if the answer is invalid."""

from __future__ import annotations

import asyncio
import json
import time
import warnings
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ValidationError

from nodes.brains.budget import Call, ModelBudget
from nodes.brains.model import METHODS, Method, Model
from nodes.brains.replies import (
    BusyError,
    InvalidOutput,
    fault_of,
    is_unsupported,
    read_object,
    usage_of,
    usage_of_cut,
)
from nodes.brains.schema import fit, strict_schema
from nodes.brains.token_count import estimate
from nodes.context import ModelError
from nodes.state import Usage
from nodes.trust.secrets import mask
from prompts import build_correction, build_schema_request

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage
    from langchain_openai import ChatOpenAI

T = TypeVar("T", bound=BaseModel)
Message = tuple[Literal["system", "human", "ai"], str]
_SHORTEST = 200
"""The minimum number of tokens for an answer; with fewer, no request is sent."""


@dataclass(frozen=True, slots=True)
class Structured(Generic[T]):
    """A value and its cost, including the correction."""

    value: T
    usage: Usage
    asked: tuple[Message, ...]
    """The last messages sent, including a correction, for callers that continue the conversation."""


async def ask_structured(
    model: Model,
    schema: type[T],
    messages: Sequence[Message],
    *,
    budget: ModelBudget,
    correction: Callable[[str], str] = build_correction,
    accept: type[T] | None = None,
    room: int | None = None,
) -> Structured[T]:
    """Ask, and ask once more with the error message if the answer is invalid.

    Args:
        model: The model to ask; the request method that works is stored in it.
        schema: The expected type of the answer.
        messages: The conversation; secrets are masked here.
        budget: Pays for every request.
        correction: Turns an error into the message that follows it.
        accept: Also accepted as the last answer, with its numbers clamped, because no further request follows.
        room: Tokens that all answers and the correction may use together; None leaves each to the model's limit.

    Raises:
        InvalidOutput: The second answer was invalid too.
        ModelError: No answer arrived: transport, refusal, filter or budget.
    """
    asked = [_masked(message) for message in messages]
    usage, corrected, left = Usage(), False, room
    while True:
        try:
            reply = await _request(model, schema, asked, budget, left)
            value = _read(reply, (accept or schema) if corrected else schema, last=corrected)
            return Structured(value, usage + usage_of(reply), tuple(asked))
        except ModelError as error:
            raise ModelError(str(error), usage + error.usage) from error
        except InvalidOutput as invalid:
            usage += invalid.usage
            message = _masked(("human", correction(str(invalid))))
            left = None if room is None else room - usage.output_tokens - estimate(message[1])
            if corrected or (left is not None and left < _SHORTEST):
                raise InvalidOutput(str(invalid), usage) from invalid
            asked, corrected = [*asked, message], True


def _masked(message: Message) -> Message:
    role, text = message
    # File names may contain bytes that decode to no character. Such text cannot be encoded as JSON.
    return role, mask(text).encode("utf-8", "replace").decode()


def _read(reply: AIMessage, schema: type[T], *, last: bool) -> T:
    try:
        return fit(schema, read_object(reply), clamp=last)
    except InvalidOutput as invalid:
        raise InvalidOutput(str(invalid), usage_of(reply)) from invalid
    except ModelError as error:
        raise ModelError(str(error), usage_of(reply)) from error
    except ValidationError as error:
        raise InvalidOutput(_explained(error), usage_of(reply)) from error


def _explained(error: ValidationError) -> str:
    """Name the invalid fields without repeating what the model wrote there."""
    faults = (f"{'.'.join(str(part) for part in fault['loc'])}: {fault['msg']}" for fault in error.errors()[:4])
    return "; ".join(faults)


async def _request(
    model: Model,
    schema: type[BaseModel],
    messages: Sequence[Message],
    budget: ModelBudget,
    room: int | None,
) -> AIMessage:
    """Send one request with the first method that the server accepts."""
    fields = strict_schema(schema)
    # The model remembers the method that worked, so a rejected method is not tried again in this process.
    for method in METHODS[METHODS.index(model.method) :]:
        reply = await _with_retries(_Request(model, method, fields, messages, room), budget)
        if reply is not None:
            model.method = method
            return reply
    raise ModelError("the model's server offers no way of asking for JSON")


@dataclass(frozen=True, slots=True)
class _Request:
    """One request with one method."""

    model: Model
    method: Method
    schema: dict[str, Any]
    messages: Sequence[Message]
    room: int | None

    @property
    def call(self) -> Call:
        """The estimated cost of the request."""
        asked = sum(estimate(text) for _, text in self.messages) + estimate(json.dumps(self.schema))
        most = self.model.max_output_tokens
        return Call(self.model.name, asked, most if self.room is None else min(most, self.room))


async def _with_retries(request: _Request, budget: ModelBudget) -> AIMessage | None:
    """Send the request, and retry while the server is busy; each attempt counts as a call.

    Raises:
        InvalidOutput: The reply is not an answer.
        ModelError: No reply arrived after all attempts.
    """
    model = request.model
    left = model.deadline
    for attempt in range(model.max_retries + 1):
        try:
            async with _paid(request.call, budget) as bill:
                began = time.monotonic()
                reply = await _send(request, left)
                bill.usage = bill.usage if reply is None else usage_of(reply)
                return reply
        except BusyError as busy:
            pause = busy.pause(attempt)
            # A wait that the server's rate limit requests does not count against the deadline.
            left -= time.monotonic() - began + (0.0 if busy.limited else pause)
            if attempt == model.max_retries:
                raise
            if left <= 0:
                raise ModelError(f"the model gave no answer within {model.deadline:g} s") from busy
            await budget.pause(pause, limited=busy.limited)
    raise AssertionError("the last attempt returns or raises")


@dataclass(slots=True)
class _Bill:
    """The cost of a call; a call without a result still counts."""

    usage: Usage = field(default_factory=lambda: Usage(calls=1))


@asynccontextmanager
async def _paid(call: Call, budget: ModelBudget) -> AsyncIterator[_Bill]:
    """Reserve the estimated cost of a call, and settle it by the actual cost."""
    reserved, bill = await budget.reserve(call), _Bill()
    try:
        yield bill
    except InvalidOutput as invalid:
        bill.usage = invalid.usage
        raise
    finally:
        await reserved.settle(bill.usage)


async def _send(request: _Request, left: float) -> AIMessage | None:
    """Send one request and return the reply, or None if the server does not support the method.

    Raises:
        InvalidOutput: The reply is not an answer (langchain-openai raises IndexError, TypeError, … for these).
        ModelError: No reply arrived.
    """
    import openai  # noqa: PLC0415  the import takes half a second, which only runs with a model should pay

    model, method, messages = request.model, request.method, list(request.messages)
    if method == "json_mode":
        messages.append(("human", build_schema_request(json.dumps(request.schema))))
    try:
        async with asyncio.timeout(left):
            answer: Any = await _bound(model.limited(request.room), method, request.schema).ainvoke(messages)
    except openai.LengthFinishReasonError as error:
        raise InvalidOutput("the answer was cut off for its length; be brief", usage_of_cut(error)) from error
    except openai.ContentFilterFinishReasonError as error:
        raise ModelError("the provider's content filter stopped the answer") from error
    except TimeoutError as error:
        raise ModelError(f"the model gave no answer within {model.deadline:g} s") from error
    except openai.APIError as error:
        if is_unsupported(error):
            return None
        raise fault_of(error) from error
    except (IndexError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidOutput("the server's response contains no answer") from error
    raw: AIMessage = answer["raw"]
    return raw


def _bound(llm: ChatOpenAI, method: Method, schema: dict[str, Any]) -> Any:
    # langchain-openai warns about servers without json_schema; the next method handles these.
    warnings.filterwarnings("ignore", category=UserWarning, module=r"langchain_openai\.")
    strict = True if method == "json_schema" else None
    return llm.with_structured_output(schema, method=method, include_raw=True, strict=strict)
