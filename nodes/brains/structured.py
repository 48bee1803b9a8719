"""Ask a model for one value of a known shape, with one correction where the answer is invalid."""

from __future__ import annotations

import asyncio
import json
import warnings
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ValidationError

from nodes.brains.model import METHODS, Method, Model
from nodes.brains.replies import InvalidOutput, describe, is_unsupported, read_object, usage_of, usage_of_cut
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
"""Tokens that an answer needs at least; with less there is no point in asking."""


@dataclass(frozen=True, slots=True)
class Structured(Generic[T]):
    """A value and what it cost, the correction included."""

    value: T
    usage: Usage
    asked: tuple[Message, ...]
    """What was sent last, a correction included, for those who go on from there."""


async def ask_structured(
    model: Model,
    schema: type[T],
    messages: Sequence[Message],
    *,
    reserve: Callable[[], Awaitable[None]],
    correction: Callable[[str], str] = build_correction,
    accept: type[T] | None = None,
    room: int | None = None,
) -> Structured[T]:
    """Ask, and ask once more with the error where the answer is invalid.

    Args:
        model: Whom to ask; it learns which way of asking works.
        schema: The shape that is asked for.
        messages: What is asked; secrets are masked here.
        reserve: Called before every request; raises ModelError when there is nothing left to spend.
        correction: The error in, the message that follows it out.
        accept: What the last answer may be instead; its numbers are then clamped, as nobody will ask again.
        room: Tokens that the answers and the correction may have together; None leaves each to the model's limit.

    Raises:
        InvalidOutput: The second answer was invalid too.
        ModelError: There was no answer: transport, refusal, filter or budget.
    """
    asked = [_masked(message) for message in messages]
    usage, corrected, left = Usage(), False, room
    while True:
        try:
            reply = await _request(model, schema, asked, reserve, left)
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
    # File names may hold bytes that are no character, which JSON cannot carry.
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
    """Name the fields, without echoing what the model wrote there."""
    faults = (f"{'.'.join(str(part) for part in fault['loc'])}: {fault['msg']}" for fault in error.errors()[:4])
    return "; ".join(faults)


async def _request(
    model: Model,
    schema: type[BaseModel],
    messages: Sequence[Message],
    reserve: Callable[[], Awaitable[None]],
    room: int | None,
) -> AIMessage:
    """Send one request, in the first way that the server accepts."""
    for method in METHODS[METHODS.index(model.method) :]:
        await reserve()
        reply = await _send(model, method, strict_schema(schema), messages, room)
        if reply is not None:
            model.method = method
            return reply
    raise ModelError("the model's server offers no way of asking for JSON")


async def _send(
    model: Model, method: Method, schema: dict[str, Any], messages: Sequence[Message], room: int | None
) -> AIMessage | None:
    """One request and its reply, or None where the server does not know this way of asking.

    Raises:
        InvalidOutput: What came back is not a reply (langchain-openai raises IndexError, TypeError, … for these).
        ModelError: Nothing came back.
    """
    import openai  # noqa: PLC0415  half a second, which only runs with a model should pay

    if method == "json_mode":
        messages = [*messages, ("human", build_schema_request(json.dumps(schema)))]
    try:
        async with asyncio.timeout(model.deadline):
            answer: Any = await _bound(model.limited(room), method, schema).ainvoke(list(messages))
    except openai.LengthFinishReasonError as error:
        raise InvalidOutput("the answer was cut off for its length; be brief", usage_of_cut(error)) from error
    except openai.ContentFilterFinishReasonError as error:
        raise ModelError("the provider's content filter stopped the answer") from error
    except TimeoutError as error:
        raise ModelError(f"the model gave no answer within {model.deadline:g} s") from error
    except openai.APIError as error:
        if is_unsupported(error):
            return None
        raise ModelError(describe(error)) from error
    except (IndexError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidOutput("the server's reply holds no answer") from error
    raw: AIMessage = answer["raw"]
    return raw


def _bound(llm: ChatOpenAI, method: Method, schema: dict[str, Any]) -> Any:
    # langchain-openai warns of servers without json_schema, for which there is the next method.
    warnings.filterwarnings("ignore", category=UserWarning, module=r"langchain_openai\.")
    strict = True if method == "json_schema" else None
    return llm.with_structured_output(schema, method=method, include_raw=True, strict=strict)
