"""Ask a model for its next turn in a conversation with tools: native calls, or one JSON object."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from nodes.brains.calls.budget import ModelBudget
from nodes.brains.calls.models import Model
from nodes.brains.calls.native import Message, tools
from nodes.brains.calls.replies import InvalidOutput, read_answer, repaired
from nodes.brains.calls.schema import fit, strict_schema
from nodes.brains.calls.sending import Sender
from nodes.brains.calls.structured import masked
from nodes.context import ModelError
from nodes.judgements import Turn
from nodes.state import Usage
from prompts import build_correction

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage

_NAME = re.compile(r"(?:\w{1,40}\.)?(\w{1,40})")
"""A tool's name without a name space before it and a template's marks after it."""
_ARGUMENT = ("what", "pattern", "name", "text", "query")
"""Names of a call's main argument; a model may use the one of another tool."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A turn, and what continues the conversation."""

    turn: Turn
    messages: tuple[Message, ...]
    """The messages that were sent, and the turn as the model's message."""
    usage: Usage


async def ask_turn(model: Model, messages: Sequence[Message], *, budget: ModelBudget) -> Asked:
    """Ask for the next turn; if it is invalid, ask once more with the error message.

    Raises:
        InvalidOutput: the second answer was invalid too.
        ModelError: no answer arrived.
    """
    sender = Sender(model, strict_schema(Turn), budget, tools=tools())
    asked = list(map(masked, messages))
    for corrected in (False, True):
        try:
            reply, _ = await sender.send(asked)
            turn = _turn(reply, clamp=corrected)
        except InvalidOutput as invalid:
            if corrected:
                message = f"{model.name} gave two invalid answers: {invalid}"
                raise InvalidOutput(message[:300], sender.usage) from invalid
            if invalid.cut:
                model.learn(longer=True)
            rejected = invalid.answer.strip()[:1_000] or "(no answer)"
            asked += [masked(("ai", rejected)), ("human", build_correction(str(invalid)))]
        except ModelError as error:
            raise ModelError(str(error), sender.usage) from error
        else:
            # Without its null fields: native calls are rebuilt from this text.
            text = turn.model_dump_json(exclude_defaults=True)
            return Asked(turn, (*asked, masked(("ai", text))), sender.usage)
    raise AssertionError("the second answer returns or raises")


def _turn(reply: AIMessage, *, clamp: bool) -> Turn:
    if reply.tool_calls or reply.invalid_tool_calls:
        found: list[dict[str, Any]] = [{"name": call["name"], "arguments": call["args"]} for call in reply.tool_calls]
        found += [
            {"name": call["name"] or "", "arguments": repaired(call["args"] or "")} for call in reply.invalid_tool_calls
        ]
        return _valid({"tool_calls": found}, clamp=clamp, answer=json.dumps(found, ensure_ascii=False))
    answer = read_answer(reply)
    error: InvalidOutput | None = None
    for decoded in answer.objects:
        try:
            return _valid(decoded, clamp=clamp, answer=answer.text)
        except InvalidOutput as invalid:
            error = error or invalid
    raise error or InvalidOutput("the answer contains no JSON object", answer=answer.text)


def _valid(decoded: dict[str, Any], *, clamp: bool, answer: str) -> Turn:
    try:
        return fit(Turn, _as_turn(decoded), clamp=clamp)
    except ValidationError as error:
        faults = [f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors()[:4]]
        raise InvalidOutput("; ".join(faults), answer=answer) from error


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
    if not isinstance(call, dict):
        return "", {}
    function = call.get("function")
    inner: dict[str, Any] = function if isinstance(function, dict) else call
    arguments = inner.get("arguments", inner.get("parameters", call))
    name = _NAME.match(str(inner.get("name", call.get("tool", "")) or ""))
    return name[1] if name else "", arguments if isinstance(arguments, dict) else {}
