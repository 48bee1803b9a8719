"""The API's description (OpenAPI 3.1) and the JSON Schemas of all documents, generated from the models in use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import resources
from typing import Any

import yaml
from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema

from bot.report.document import result_schema
from bot.server.api import models, stored
from bot.settings.operator import operator_schema
from bot.settings.repository import config_schema

PREFIX = "/api/v1"
DOCUMENT = "/openapi.json"
SCHEMAS: Mapping[str, Callable[[], dict[str, Any]]] = {
    "triage-result.json": result_schema,
    "triage.yml.json": config_schema,
    "operator.yml.json": operator_schema,
}
"""JSON Schemas by the name under which the server and the documentation publish them, each with an `$id`."""
_REQUESTS = (models.IssueRun, models.TextRun)
_RESPONSES = (models.Run, models.Problem, stored.RepositoryPage, stored.RunPage, stored.ReportPage, stored.FactPage)
_MORE = (stored.OutcomePage, stored.UsagePage, stored.WholeRun)
_PART = {"type": "string", "pattern": "^[A-Za-z0-9_.-]{1,100}$"}


@cache
def openapi() -> dict[str, Any]:
    """Return the whole document."""
    text = resources.files(__package__).joinpath("openapi.yml").read_text(encoding="utf-8")
    document: dict[str, Any] = yaml.safe_load(text)
    says = document.pop("problems")
    for path, operations in document["paths"].items():
        for operation in operations.values():
            _complete(path, operation, says)
    given: list[tuple[type[BaseModel], JsonSchemaMode]] = [(model, "validation") for model in _REQUESTS]
    given += [(model, "serialization") for model in (*_RESPONSES, *_MORE)]
    _, definitions = models_json_schema(given, ref_template="#/components/schemas/{model}")
    document["components"]["schemas"] = definitions["$defs"]
    return document


def _complete(path: str, operation: dict[str, Any], says: Mapping[str, str]) -> None:
    """Add to an operation what follows from its models and its path."""
    owner = [{"name": part, "in": "path", "required": True, "schema": _PART} for part in ("owner", "name")]
    query = _parameters(getattr(stored, operation.pop("query"))) if "query" in operation else []
    operation["parameters"] = [*(owner if "{owner}" in path else []), *operation.get("parameters", ()), *query]
    if "model" in operation:
        content = {"application/json": {"schema": _ref(operation.pop("model"))}}
        operation["responses"] = {"200": {"description": "The run.", "content": content}}
    if "page" in operation:
        says_page = f"One page; as JSON lines, all items from the cursor on, each a {operation.pop('item')}."
        content = {
            "application/json": {"schema": _ref(operation.pop("page"))},
            "application/x-ndjson": {"schema": {"type": "string"}},
        }
        operation["responses"] = {"200": {"description": says_page, "content": content}}
    problem = {"application/problem+json": {"schema": _ref("Problem")}}
    codes = operation.pop("problems")
    operation["responses"] |= {code: {"description": says[code], "content": problem} for code in codes}


def _parameters(query: type[stored.Query]) -> list[dict[str, Any]]:
    """Describe each field of a query as a parameter; an optional one is left out instead of being null."""
    found = []
    for name, schema in query.model_json_schema()["properties"].items():
        rest = {key: value for key, value in schema.items() if key not in ("anyOf", "title", "description", "default")}
        kinds = [option for option in schema.get("anyOf", ()) if option != {"type": "null"}]
        default = {} if schema.get("default") is None else {"default": schema["default"]}
        described = {"name": name, "in": "query", "description": schema["description"]}
        found.append({**described, "schema": {**(kinds[0] if kinds else rest), **default}})
    return found


def _ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}
