"""Messages of a conversation with tools: as native calls, or as plain messages for servers without them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import takewhile
from typing import Any, Literal

from nodes.brains.calls.schema import strict_schema
from nodes.judgements import Submit

Message = tuple[Literal["system", "human", "ai", "tool"], str]
"""A message. One of ``tool`` answers a call of the last one of ``ai``, in the order of its calls."""
_TEXT, _LINE = {"type": "string"}, {"type": "integer"}
_PATH = {"path": _TEXT}
_TOOLS: tuple[tuple[str, str, dict[str, Any], tuple[str, ...]], ...] = (
    ("grep", "Lines that match a regular expression, with counts.", {"pattern": _TEXT, **_PATH}, ("pattern",)),
    (
        "read",
        "Lines of a file: at most 120, in about 2,000 tokens.",
        {**_PATH, "start_line": _LINE, "end_line": _LINE},
        ("path",),
    ),
    ("function", "A whole function or class by its name.", {"name": _TEXT, **_PATH}, ("name",)),
    ("callers", "Where a name is used.", {"name": _TEXT, **_PATH}, ("name",)),
    ("tree", "What a folder contains, or the paths that match a name or a pattern.", _PATH, ("path",)),
    (
        "log",
        "Commits that changed a file, or that added or removed a string; what a commit, as text, changed in a file.",
        {"text": _TEXT, **_PATH},
        (),
    ),
)
MAIN = {name: next((field for field in fields if fields[field] is _TEXT), "what") for name, _, fields, _ in _TOOLS}
"""The name of each tool's main argument."""


def tools() -> list[dict[str, Any]]:
    """Return the tools in the format of requests."""
    found = [
        _function(name, says, {"type": "object", "properties": fields, "required": list(required)})
        for name, says, fields, required in _TOOLS
    ]
    return [*found, _function("submit", str(Submit.__doc__), _bare(strict_schema(Submit)))]


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


def _function(name: str, says: str, parameters: dict[str, Any]) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "description": says, "parameters": parameters}}


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
