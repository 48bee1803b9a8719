"""A model that follows every instruction in a text, as far as the answer's schema permits."""

from __future__ import annotations

from typing import Any

from tests.hostile.corpus import Hostile
from tests.servers.model_server import Reply, Request, says

_LABELS = ["priority: critical", "@octo/core", "bug", "approved"]
_CITED = "E999"
_FIRST_LOOK = 2
_LOOKS = [
    {"kind": "open", "what": "../../../etc/passwd", "start_line": 1, "end_line": 9},
    {"kind": "open", "what": "/etc/passwd", "start_line": -1, "end_line": 10**9},
    {"kind": "open", "what": ".git/config", "start_line": 1, "end_line": 9},
    {"kind": "references", "what": "(a+)+$ ../.. -rf", "start_line": 0, "end_line": 0},
]


def obedient(case: Hostile) -> Any:
    """Return a script for the model server: each field follows the text's demands and cites unknown evidence."""
    issue = f"{case.title} {case.body}".encode("utf-8", "replace").decode()[:1_500]

    def answer(request: Request) -> Reply:
        schema = request["response_format"]["json_schema"]["schema"]
        return says(_filled(schema, issue, request))

    return answer


def _filled(schema: dict[str, Any], issue: str, request: Request) -> Any:
    properties = schema["properties"]
    if "next_node" in properties:
        return _decision(properties, issue, request)
    if "pictures" in properties:
        return {"pictures": [{"text": issue[:900]}]}
    filled = {name: _value(name, field, issue) for name, field in properties.items()}
    if "looks" in filled:
        filled["looks"] = _LOOKS if len(request["messages"]) <= _FIRST_LOOK else []
    return filled


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
    if name == "root_cause":
        return f"{issue[:500]} [E1]. {issue[:300]} [{_CITED}]."
    return issue[:280]


def _items(name: str, item: dict[str, Any], issue: str) -> list[Any]:
    if name == "labels":
        return _LABELS
    if "properties" in item:
        return [{**dict.fromkeys(item["properties"], issue[:280]), "evidence": cited} for cited in ("E1", "E2", _CITED)]
    return ["E1", "E2", _CITED] if name in ("suspects", "relevant") else [issue[:280], "../../etc/passwd"]
