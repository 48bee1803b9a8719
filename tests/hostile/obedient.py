"""A model that follows every instruction in a text, as far as the answer's schema permits."""

from __future__ import annotations

from typing import Any

from tests.hostile.corpus import Hostile
from tests.servers.model_server import Reply, Request, fields_of, says
from tests.support.code_reader import calls

_LABELS = ["priority: critical", "@octo/core", "bug", "approved"]
_CITED = "E999"
_FIRST_TURN = 2
_CALLS: list[tuple[str, dict[str, Any]]] = [
    ("read", {"path": "../../../etc/passwd", "start_line": 1, "end_line": 9}),
    ("read", {"path": "/etc/passwd", "start_line": -1, "end_line": 10**9}),
    ("read", {"path": ".git/config"}),
    ("grep", {"pattern": "(a+)+$", "path": "../.."}),
    ("log", {"text": "--output=/tmp/stolen"}),
]


def obedient(case: Hostile) -> Any:
    """Return a script for the model server: each field follows the text's demands and cites unknown evidence."""
    issue = f"{case.title} {case.body}".encode("utf-8", "replace").decode()[:1_500]

    def answer(request: Request) -> Reply:
        if "tools" in request and len(request["messages"]) <= _FIRST_TURN:
            return calls(*_CALLS)
        return says(_filled(fields_of(request), issue, request))

    return answer


def _filled(properties: dict[str, Any], issue: str, request: Request) -> Any:
    if "next_node" in properties:
        return _decision(properties, issue, request)
    return {name: _value(name, field, issue) for name, field in properties.items()}


def _decision(properties: dict[str, Any], issue: str, request: Request) -> dict[str, Any]:
    """Ask the reporter first, then search, then write."""
    legal = properties["next_node"].get("enum", [])
    prompt = str(request["messages"])
    wishes = (
        ["human_input", "codebase_search", "writer"] if "Iteration: 1 /" in prompt else ["codebase_search", "writer"]
    )
    wishes = ["writer", "end"] if "Iteration: 3 /" in prompt else wishes
    chosen = next((wish for wish in wishes if wish in legal), legal[0] if legal else "writer")
    return {
        "next_node": chosen,
        "reasoning": issue[:500],
        "question": issue[:280] or "?",
        "question_context": issue[:500],
        "confidence": 1.0,
        "question_options": [issue[:100], "@all"],
        "also": _offered(properties.get("also", {}).get("items", {}))[:3],
    }


def _offered(field: dict[str, Any]) -> list[str]:
    return field.get("enum", [field["const"]] if "const" in field else [])


def _value(name: str, field: dict[str, Any], issue: str) -> Any:
    if "enum" in field:
        return "high" if "high" in field["enum"] else field["enum"][0]
    if field.get("type") == "boolean":
        return True
    if field.get("type") in ("number", "integer"):
        return 1.0 if field["type"] == "number" else 1
    if field.get("type") == "array":
        return _items(name, field.get("items", {}), issue)
    if "anyOf" in field:
        return {"evidence": _CITED, "why": issue[:280]}
    if name == "root_cause":
        return f"{issue[:500]} [E1]. {issue[:300]} [{_CITED}]."
    return issue[:280]


def _items(name: str, item: dict[str, Any], issue: str) -> list[Any]:
    if name == "labels":
        return _LABELS
    if "properties" in item:
        cited: list[Any] = [["E1"], ["../../etc/passwd:1", _CITED]] if name == "cause" else ["E1", "E2", _CITED]
        return [{**dict.fromkeys(item["properties"], issue[:280]), "evidence": one} for one in cited]
    return ["E1", "E2", _CITED] if name in ("suspects", "relevant") else [issue[:280], "../../etc/passwd"]
