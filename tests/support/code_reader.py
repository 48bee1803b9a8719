"""The scripted replies of a model that reads code."""

from __future__ import annotations

import json
import re
from typing import Any

from tests.servers.model_server import Reply, Request, says


def look(kind: str, what: Any, start: Any = 0, end: Any = 0) -> dict[str, Any]:
    """Return one lookup in the schema's format."""
    return {"kind": kind, "what": what, "start_line": start, "end_line": end}


def wants(*looks: Any, **more: Any) -> Reply:
    """Return a step that requests lookups."""
    return says({"looks": list(looks), "summary": "", "details": "", "suspects": [], "confidence": 0.0, **more})


def ranks(*suspects: str, **more: Any) -> Reply:
    """Return a step with the ranking."""
    return wants(**{"summary": "It is there.", "suspects": list(suspects), "confidence": 0.9, **more})


def listed(request: Request) -> dict[str, str]:
    """The ids of the files that a request lists, by path, in the order of the list."""
    prompts = "\n".join(message["content"] for message in request["messages"])
    return {path: name for name, path in re.findall(r"^(F\d+) (\S+)", prompts, re.MULTILINE)}


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
    return "looks" in request["response_format"]["json_schema"]["schema"]["properties"]
