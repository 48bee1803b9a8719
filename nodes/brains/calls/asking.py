"""Ask a model for one value of a known type, or for its next turn with tools; an invalid answer is corrected once."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError

from nodes.brains.calls.abilities import Method
from nodes.brains.calls.budget import ModelBudget
from nodes.brains.calls.models import ChatModel
from nodes.brains.calls.replies import InvalidOutput, ModelAnswer, read_answer, repaired
from nodes.brains.calls.request import Message, tools
from nodes.brains.calls.schema import fit, strict_schema
from nodes.brains.calls.sending import Sender
from nodes.brains.fence import squeeze
from nodes.context.brain import Judged, ModelError
from nodes.judgements import Turn
from nodes.trust.secrets import mask
from prompts.texts import build_correction

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage

T = TypeVar("T", bound=BaseModel)
V = TypeVar("V")

logger = logging.getLogger(__name__)
_REJECTED = 400
"""Tokens of a rejected answer that a correction repeats."""
_NAME = re.compile(r"(?:\w{1,40}\.)?(\w{1,40})")
"""A tool's name without a name space before it and a template's marks after it."""
_ARGUMENT = ("what", "pattern", "name", "text", "query")
"""Names of a call's main argument; a model may use the name that another tool has for it."""


async def ask_structured(
    model: ChatModel,
    schema: type[T],
    messages: Sequence[Message],
    *,
    budget: ModelBudget,
    correction: Callable[[str], str] = build_correction,
    accept: type[T] | None = None,
) -> Judged[T]:
    """Ask once; if the answer is invalid, ask again with the rejected answer and the error message.

    A server that ignores the request for JSON is asked by the next method; this does not count as the correction. The
    last answer may also be of the type ``accept``, with its numbers clamped, because no further request follows.

    Raises:
        InvalidOutput: The second answer was invalid too.
        ModelError: No answer arrived: transport, refusal, filter or budget.
    """
    sender = Sender(model, strict_schema(schema), budget)

    def read(reply: AIMessage, last: bool) -> tuple[ModelAnswer, T]:  # noqa: FBT001  called below only
        answer, wanted = read_answer(reply), (accept or schema) if last else schema
        return answer, _first_valid(answer, lambda decoded: fit(wanted, decoded, clamp=last))

    (answer, value), method, _ = await _ask(sender, messages, read, correction)
    if not answer.plain and method in ("json_schema", "function_calling"):
        model.next_method(method)
    return Judged(value, judged_by=model.name, usage=sender.usage, remarks=model.remarks)


def build_turn_sender(model: ChatModel, budget: ModelBudget) -> Sender:
    """Return a function that sends the requests of one conversation with tools and counts their cost."""
    return Sender(model, strict_schema(Turn), budget, tools=tools())


async def ask_turn(sender: Sender, messages: Sequence[Message]) -> tuple[Turn, tuple[Message, ...]]:
    """Ask for the next turn; return it, and the conversation that it ends, or raise as ``ask_structured``."""

    def read(reply: AIMessage, last: bool) -> Turn:  # noqa: FBT001  called below only
        return _first_valid(_calls_in(reply), lambda decoded: fit(Turn, _as_turn(decoded), clamp=last))

    turn, _, asked = await _ask(sender, messages, read, build_correction)
    # Without its null fields: native calls are rebuilt from this text.
    return turn, (*asked, masked(("ai", turn.model_dump_json(exclude_defaults=True))))


async def _ask(
    sender: Sender, messages: Sequence[Message], read: Callable[[AIMessage, bool], V], correction: Callable[[str], str]
) -> tuple[V, Method, list[Message]]:
    """Return the first valid answer, its method and the messages before it; an error has the usage of all of them."""
    model, first = sender.model, list(map(masked, messages))
    asked, corrected = first, False
    while True:
        method = model.abilities.method
        try:
            reply, method = await sender.send(asked)
            return read(reply, corrected), method, asked
        except InvalidOutput as invalid:
            # A warning, then an error (PRD section 2), which names faults and nothing that the model wrote.
            name, attempt = sender.schema["title"], 1 + corrected
            fields = {"action": "model.invalid", "attempt": attempt, "schema": name}
            level = logging.ERROR if corrected else logging.WARNING
            logger.log(level, "%s invalid (attempt %d): %s", name, attempt, mask(str(invalid)), extra=fields)
            if invalid.cut and not model.abilities.longer:
                model.learn(longer=True)
            uses_other_method = invalid.ignored and not sender.tools and model.next_method(method)
            if corrected and not uses_other_method:
                message = f"{model.name} gave two invalid answers: {invalid}"
                raise InvalidOutput(message[:300], sender.usage) from invalid
            rejected = squeeze(invalid.answer.strip(), _REJECTED) or "(no answer)"
            again = masked(("ai", rejected)), masked(("human", correction(str(invalid))))
            asked, corrected = [*first, *again], corrected or not uses_other_method
        except ModelError as error:
            error.usage = sender.usage
            raise


def masked(message: Message) -> Message:
    """Return a message without secrets that can be encoded as JSON."""
    role, text = message
    # File names may contain bytes that decode to no character.
    return role, mask(text).encode("utf-8", "replace").decode()


def _first_valid(answer: ModelAnswer, parse: Callable[[dict[str, Any]], T]) -> T:
    """Return the first object of the answer that is valid, in the order of the answer."""
    first: ValidationError | None = None
    for found in answer.objects:
        try:
            return parse(found)
        except ValidationError as error:
            first = first or error
    if first is None:
        raise InvalidOutput("the answer contains no JSON object", answer=answer.text)
    # A server that enforces the schema sends every field.
    has_missing_field = any(fault["type"] == "missing" and len(fault["loc"]) == 1 for fault in first.errors())
    # Names the fields without repeating what the model wrote there.
    faults = "; ".join(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in first.errors()[:4])
    raise InvalidOutput(faults, ignored=has_missing_field or not answer.plain, answer=answer.text) from first


def _calls_in(reply: AIMessage) -> ModelAnswer:
    """Return the native calls of a reply as one object, else the objects in its text."""
    if not (reply.tool_calls or reply.invalid_tool_calls):
        return read_answer(reply)
    called: list[tuple[str | None, Any]] = [(call["name"], call["args"]) for call in reply.tool_calls]
    called += [(call["name"], repaired(call["args"] or "")) for call in reply.invalid_tool_calls]
    found = [{"name": name or "", "arguments": arguments} for name, arguments in called]
    return ModelAnswer(({"tool_calls": found},), json.dumps(found, ensure_ascii=False), plain=True)


def _as_turn(decoded: dict[str, Any]) -> dict[str, Any]:
    """Return a turn from any of the forms in which models write one: calls with names, one call, or a submission."""
    if "cause" in decoded and "submit" not in decoded:
        return {"submit": decoded}
    calls = decoded.get("tool_calls", decoded.get("calls"))
    if calls is None and ("tool" in decoded or "name" in decoded):
        calls = [decoded]
    found, submitted = list[dict[str, Any]](), decoded.get("submit")
    for call in calls if isinstance(calls, list) else []:
        name, arguments = _named(call)
        if name == "submit":
            submitted = submitted or arguments
        else:
            what = next((arguments[key] for key in _ARGUMENT if arguments.get(key)), "")
            found.append({**arguments, "tool": name, "what": what})
    return {"calls": found, "submit": submitted if isinstance(submitted, dict) else None}


def _named(call: Any) -> tuple[str, dict[str, Any]]:
    call = call if isinstance(call, dict) else {}
    function = call.get("function")
    inner: dict[str, Any] = function if isinstance(function, dict) else call
    arguments = inner.get("arguments", inner.get("parameters", call))
    name = _NAME.match(str(inner.get("name", call.get("tool", "")) or ""))
    return name[1] if name else "", arguments if isinstance(arguments, dict) else {}
