"""Requests that a model's server accepts: their messages and tools, and a conversation that fits into its window."""

import json
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any, Literal, TypeVar

from nodes.brains.calls.abilities import Abilities
from nodes.brains.calls.budget import PlannedCall
from nodes.brains.calls.models import ChatModel
from nodes.brains.calls.schema import strict_schema, without_bounds
from nodes.brains.fence import estimate, squeeze
from nodes.judgements import Submit
from prompts.texts import TURN_EXAMPLE, build_schema_request

Role = TypeVar("Role", bound=str)
SMALLEST = 700
"""Tokens for a prompt below which no useful question fits."""
_FENCE = re.compile(r"^<<<DATA \S{1,40} ([0-9a-f]{16})$")
_PER_MESSAGE = 5
Message = tuple[Literal["system", "human", "ai", "tool"], str]
"""A message. One of ``tool`` answers a call of the last one of ``ai``, in the order of its calls."""
_TOOLS: dict[str, dict[str, Any]] = tomllib.loads(Path(__file__).with_name("tools.toml").read_text(encoding="utf-8"))
MAIN = {
    name: next(field for field, kind in tool["fields"].items() if kind == "string") for name, tool in _TOOLS.items()
}
"""The name of each tool's main argument."""


def counted(messages: Sequence[tuple[str, str]]) -> int:
    """Estimate the tokens of a conversation."""
    return sum(_PER_MESSAGE + estimate(text) for _, text in messages)


def fit_window(messages: Sequence[tuple[Role, str]], tokens: int) -> list[tuple[Role, str]]:
    """Return the conversation with its longest fenced texts shortened until the estimate is at most ``tokens``.

    Only text between fence markers is shortened: the markers stay whole, so no data leaves its fence. The rules are
    outside the fences and stay whole; if they alone are too long, the result is longer than requested.
    """
    fitted = list(messages)
    # A bound for the time: a dozen cuts suffice for the few fenced texts of a prompt.
    for _ in range(12):
        excess = counted(fitted) - tokens
        if excess <= 0:
            break
        longest = max(_fenced(fitted), default=None)
        if longest is None or longest[0] < 40:
            break
        size, at, first, last = longest
        role, text = fitted[at]
        lines = text.split("\n")
        # At most half of a text at a time, so that several long texts are shortened evenly.
        inside = squeeze("\n".join(lines[first:last]), max(20, size - min(excess, size // 2)))
        fitted[at] = (role, "\n".join([*lines[:first], inside, *lines[last:]]))
    return fitted


def _fenced(messages: Sequence[tuple[str, str]]) -> list[tuple[int, int, int, int]]:
    """Return each fenced text: its tokens, its message, its first line, and the line of its closing marker."""
    found = []
    for at, (_, text) in enumerate(messages):
        lines, first, token = text.split("\n"), 0, ""
        for number, line in enumerate(lines):
            opening = None if token else _FENCE.match(line)
            if opening:
                first, token = number + 1, opening[1]
            elif token and line == f"DATA {token}>>>":
                found.append((estimate("\n".join(lines[first:number])), at, first, number))
                token = ""
    return found


@dataclass(frozen=True, slots=True)
class Request:
    """One request in one form."""

    model: ChatModel
    abilities: Abilities
    schema: dict[str, Any]
    messages: Sequence[Message]
    tools: Sequence[dict[str, Any]] = ()
    """Tools that the model may call natively, if its server takes them; the schema describes the same calls."""

    @property
    def call(self) -> PlannedCall:
        """The estimated cost of the request."""
        form = self.tools if self._native else self._schema
        asked = counted(self.fitted) + (0 if self._in_words else estimate(json.dumps(form)))
        return PlannedCall(self.model.name, asked, self._most)

    @property
    def conversation(self) -> list[Any]:
        """The messages in the client's format."""
        return native_messages(self.fitted) if self._native else joined_answers(self.fitted)

    @property
    def fitted(self) -> list[Message]:
        """The messages as they are sent."""
        messages = list(self.messages)
        if self.tools and not self._native:
            # In the first message, so that later turns only append.
            role, text = messages[0]
            messages[0] = (role, f"{text}\n\n{TURN_EXAMPLE}")
        if self._in_words:
            role, text = messages[-1]
            messages[-1] = (role, f"{text}\n\n{build_schema_request(json.dumps(self._schema))}")
        if not self.abilities.system and messages[0][0] == "system":
            messages[:2] = [("human", f"{messages[0][1]}\n\n{messages[1][1]}")]
        window = self.abilities.window
        if window is None:
            return messages
        # A tenth is reserved for text outside the estimate, such as the server's own template.
        return fit_window(messages, (window - self._most) * 9 // 10)

    @property
    def body(self) -> dict[str, Any]:
        """Everything of the request except the model's name and the messages."""
        known = self.abilities
        body: dict[str, Any] = {known.limit_name: self._most}
        if known.temperature:
            body["temperature"] = 0
        return body | ({} if known.thinking else {"enable_thinking": False}) | self._form

    @property
    def _form(self) -> dict[str, Any]:
        if self._native:
            return {"tools": list(self.tools), "tool_choice": "auto"}
        schema, name = self._schema, self.schema["title"]
        if self.abilities.method == "json_schema":
            named_schema = {"name": name, "strict": True, "schema": schema}
            return {"response_format": {"type": "json_schema", "json_schema": named_schema}}
        if self.abilities.method == "function_calling":
            function = {"name": name, "description": schema["description"], "parameters": schema}
            chosen = {"type": "function", "function": {"name": name}}
            return {"tools": [{"type": "function", "function": function}], "tool_choice": chosen}
        # The other two methods describe the schema in the last message.
        return {"response_format": {"type": "json_object"}} if self.abilities.method == "json_mode" else {}

    @property
    def _schema(self) -> dict[str, Any]:
        return self.schema if self.abilities.bounds else dict(without_bounds(self.schema))

    @property
    def _native(self) -> bool:
        return bool(self.tools) and self.abilities.reading == "tools"

    @property
    def _in_words(self) -> bool:
        return not self._native and self.abilities.method in ("json_mode", "prompt")

    @property
    def _most(self) -> int:
        return self.model.most(self.abilities)


def tools() -> list[dict[str, Any]]:
    """Return the tools in the format of requests."""
    found = list[tuple[str, str, dict[str, Any]]]()
    for name, tool in _TOOLS.items():
        properties = {field: {"type": kind} for field, kind in tool["fields"].items()}
        found.append((name, tool["says"], {"type": "object", "properties": properties, "required": tool["required"]}))
    found.append(("submit", str(Submit.__doc__), _bare(strict_schema(Submit))))
    return [
        {"type": "function", "function": {"name": name, "description": says, "parameters": parameters}}
        for name, says, parameters in found
    ]


def _bare(schema: Any) -> Any:
    """Return a schema without what the task says already; tools are sent again with every turn."""
    if isinstance(schema, list):
        return [_bare(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    named = {"properties": {name: _bare(field) for name, field in schema.get("properties", {}).items()}}
    dropped = ("title", "description", "additionalProperties", "properties", "maxItems")
    bare = {key: _bare(part) for key, part in schema.items() if key not in dropped}
    return {**bare, **named} if "properties" in schema else bare


def joined_answers(messages: Sequence[Message]) -> list[Any]:
    """Return a conversation without native calls: the answers of a turn are one message of the user."""
    joined: list[Any] = []
    for role, text in messages:
        plain = "human" if role == "tool" else role
        if plain == "human" and joined and joined[-1][0] == "human":
            joined[-1] = (plain, f"{joined[-1][1]}\n\n{text}")
        else:
            joined.append((plain, text))
    return joined


def native_messages(messages: Sequence[Message]) -> list[Any]:
    """Return a conversation whose turns with answers are native calls."""
    native: list[Any] = []
    for at, (role, text) in enumerate(messages):
        answers = [answer for _, answer in takewhile(lambda message: message[0] == "tool", messages[at + 1 :])]
        if role == "ai" and answers:
            native += _called(at, json.loads(text)["calls"], answers)
        elif role != "tool":
            native.append((role, text))
    return native


def _called(at: int, calls: Sequence[dict[str, Any]], answers: Sequence[str]) -> list[dict[str, Any]]:
    """Return one turn of calls and their answers; the position of the turn makes their ids unique."""
    # Mistral's models take ids of nine letters and digits only.
    numbered = [(f"call{at:04d}{n % 10}", *pair) for n, pair in enumerate(zip(calls, answers, strict=True))]
    asked = []
    for name, call, _ in numbered:
        tool = call.get("tool", "")
        named = {MAIN.get(tool, "what") if key == "what" else key: part for key, part in call.items()}
        arguments = json.dumps({key: part for key, part in named.items() if key != "tool"}, ensure_ascii=False)
        asked.append({"id": name, "type": "function", "function": {"name": tool or "unknown", "arguments": arguments}})
    turn = {"role": "assistant", "content": "", "tool_calls": asked}
    return [turn, *({"role": "tool", "tool_call_id": name, "content": answer} for name, _, answer in numbered)]
