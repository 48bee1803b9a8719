"""The scripted replies of a model that reads code."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from tests.servers.model_server import Reply, Request, completion, says


def calls(*made: tuple[str, dict[str, Any]]) -> Reply:
    """Return a turn of native calls."""
    asked = [
        {"id": f"c{n}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for n, (name, arguments) in enumerate(made)
    ]
    return completion({"role": "assistant", "content": None, "tool_calls": asked}, "tool_calls")


def submits(*places: str, cause: Sequence[tuple[str, Sequence[str]]] | None = None, **more: Any) -> Reply:
    """Return a turn that ends the conversation with these places."""
    told = [("It is decided there.", places[:1])] if cause is None else cause
    value = {
        "cause": [{"text": text, "evidence": list(evidence)} for text, evidence in told],
        "places": [{"evidence": place, "why": "It decides."} for place in places],
        "confidence": 0.9,
        **more,
    }
    return calls(("submit", value))


def answers(request: Request) -> list[str]:
    """The answers to native calls in a request, in order."""
    return [str(message["content"]) for message in request["messages"] if message["role"] == "tool"]


def listed(request: Request) -> dict[str, str]:
    """The ids of the files that a request lists, by path, in the order of the list."""
    prompts = "\n".join(message["content"] for message in request["messages"])
    return {path: name for name, path in re.findall(r"^([EF]\d+) (\S+)$", prompts, re.MULTILINE)}


def is_choosing(request: Request) -> bool:
    """Whether a request asks which files to read."""
    return any("You are the file reader" in str(message["content"]) for message in request["messages"])


def chooses(request: Request, *paths: str, **more: Any) -> Reply:
    """The files of a list, those of these paths first, whatever its order."""
    ids = listed(request)
    files = [ids[path] for path in paths if path in ids]
    return says({"analysis": "It loops.", "files": files[:5], "not_listed": [], "confidence": 0.9, **more})


def costing(reply: Reply, prompt: int, completion: int) -> Reply:
    """Return the same reply with the usage that its server reports."""
    usage = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
    return Reply({**reply.body, "usage": usage}, reply.status, reply.headers, reply.delay)


def messages(request: Request) -> list[str]:
    """Return each message of a request, byte for byte."""
    return [json.dumps(message) for message in request["messages"]]


def is_reading(request: Request) -> bool:
    """Return whether a request is part of reading code."""
    return any("You are the code reader" in str(message["content"]) for message in request["messages"])
