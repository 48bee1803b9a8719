"""Ask a model for one value of a known type, with one correction if the answer is invalid."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import BaseModel, ValidationError

from nodes.brains.calls.abilities import Method
from nodes.brains.calls.budget import ModelBudget
from nodes.brains.calls.models import Model
from nodes.brains.calls.native import Message
from nodes.brains.calls.replies import Answer, InvalidOutput, read_answer
from nodes.brains.calls.schema import fit, strict_schema
from nodes.brains.calls.sending import Sender
from nodes.brains.fence import squeeze
from nodes.context import ModelError
from nodes.state import Usage
from nodes.trust.secrets import mask
from prompts import build_correction

__all__ = ["Message", "Structured", "ask_structured"]

T = TypeVar("T", bound=BaseModel)

logger = logging.getLogger(__name__)
_REJECTED = 400
"""Tokens of a rejected answer that a correction repeats."""
_NO_ANSWER = "(no answer)"


@dataclass(frozen=True, slots=True)
class Structured(Generic[T]):
    """A value and its cost, including the correction."""

    value: T
    usage: Usage


async def ask_structured(
    model: Model,
    schema: type[T],
    messages: Sequence[Message],
    *,
    budget: ModelBudget,
    correction: Callable[[str], str] = build_correction,
    accept: type[T] | None = None,
    images: tuple[str, ...] = (),
) -> Structured[T]:
    """Ask once; if the answer is invalid, ask again with the rejected answer and the error message.

    A server that ignores the request for JSON is asked by the next method; this does not count as the correction.

    Args:
        model: The model to ask; what its server refuses is stored in it.
        schema: The expected type of the answer.
        messages: The conversation; secrets are masked here.
        budget: Pays for every request.
        correction: Turns an error into the message that follows it.
        accept: Also accepted as the last answer, with its numbers clamped, because no further request follows.
        images: Data URLs of images that follow the last message.

    Raises:
        InvalidOutput: The second answer was invalid too.
        ModelError: No answer arrived: transport, refusal, filter or budget.
    """
    first = [masked(message) for message in messages]
    sender = Sender(model, strict_schema(schema), budget, images=images)
    asked, corrected = first, False
    while True:
        method = model.abilities.method
        try:
            reply, method = await sender.send(asked)
            answer = read_answer(reply)
            value = _value(answer, (accept or schema) if corrected else schema, last=corrected)
        except InvalidOutput as invalid:
            _log(schema, invalid, last=corrected)
            uses_other_method = _learnt(model, method, invalid)
            correction_messages = _correction(invalid, correction)
            if corrected and not uses_other_method:
                message = f"{model.name} gave two invalid answers: {invalid}"
                raise InvalidOutput(message[:300], sender.usage) from invalid
            asked, corrected = [*first, *correction_messages], corrected or not uses_other_method
        except ModelError as error:
            raise ModelError(str(error), sender.usage) from error
        else:
            if not answer.plain and method in ("json_schema", "function_calling"):
                model.next_method(method)
            return Structured(value, sender.usage)


def _log(schema: type[BaseModel], invalid: InvalidOutput, *, last: bool) -> None:
    """Log an invalid answer, the first as a warning and the one after the correction as an error (PRD section 2)."""
    level, attempt = (logging.ERROR, 2) if last else (logging.WARNING, 1)
    fields = {"action": "model.invalid", "attempt": attempt, "schema": schema.__name__}
    # The message names fields and faults, and nothing that the model wrote.
    logger.log(level, "%s invalid (attempt %d): %s", schema.__name__, attempt, mask(str(invalid)), extra=fields)


def masked(message: Message) -> Message:
    role, text = message
    # File names may contain bytes that decode to no character. Such text cannot be encoded as JSON.
    return role, mask(text).encode("utf-8", "replace").decode()


def _value(answer: Answer, schema: type[T], *, last: bool) -> T:
    """Return the first object of the answer that is valid, in the order of the answer."""
    first: ValidationError | None = None
    for found in answer.objects:
        try:
            return fit(schema, found, clamp=last)
        except ValidationError as error:
            first = first or error
    if first is None:
        raise InvalidOutput("the answer contains no JSON object", answer=answer.text)
    # A server that enforces the schema sends every field.
    has_missing_field = any(fault["type"] == "missing" and len(fault["loc"]) == 1 for fault in first.errors())
    raise InvalidOutput(_explained(first), ignored=has_missing_field or not answer.plain, answer=answer.text) from first


def _explained(error: ValidationError) -> str:
    """Name the invalid fields without repeating what the model wrote there."""
    faults = (f"{'.'.join(str(part) for part in fault['loc'])}: {fault['msg']}" for fault in error.errors()[:4])
    return "; ".join(faults)


def _learnt(model: Model, method: Method, invalid: InvalidOutput) -> bool:
    """Learn from an invalid answer; return whether the next request uses another method."""
    if invalid.cut and not model.abilities.longer:
        model.learn(longer=True)
    return invalid.ignored and model.next_method(method)


def _correction(invalid: InvalidOutput, correction: Callable[[str], str]) -> tuple[Message, Message]:
    """Return the rejected answer as the assistant's turn, and the correction as the user's turn."""
    rejected = squeeze(invalid.answer.strip(), _REJECTED) or _NO_ANSWER
    return masked(("ai", rejected)), masked(("human", correction(str(invalid))))
