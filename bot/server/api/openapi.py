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
from bot.server.api import models
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


@cache
def openapi() -> dict[str, Any]:
    """Return the whole document."""
    text = resources.files(__package__).joinpath("openapi.yml").read_text(encoding="utf-8")
    document: dict[str, Any] = yaml.safe_load(text)
    says = document.pop("problems")
    content = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    for operations in document["paths"].values():
        for operation in operations.values():
            codes = operation.pop("problems")
            operation["responses"] |= {code: {"description": says[code], "content": content} for code in codes}
    given: list[tuple[type[BaseModel], JsonSchemaMode]] = [
        *((model, "validation") for model in (models.IssueRun, models.TextRun)),
        *((model, "serialization") for model in (models.Run, models.Problem)),
    ]
    _, definitions = models_json_schema(given, ref_template="#/components/schemas/{model}")
    document["components"]["schemas"] = definitions["$defs"]
    return document
