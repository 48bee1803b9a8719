"""Compares requests with GitHub's own OpenAPI description, where it is installed (``.ci/run`` does)."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

MISSING = "GitHub's description of its API is not installed: run .ci/openapi"
DESCRIPTION = Path(__file__).parents[2] / ".tools" / "openapi" / "api.github.com.json"


def violation(method: str, path: str, query: dict[str, list[str]], body: Any) -> str | None:
    """Return what is wrong with a request; None if nothing, or if no description is installed."""
    if not DESCRIPTION.exists():
        return None
    found = _operation(method.lower(), path)
    if found is None:
        return f"{method} {path}: GitHub has no such call"
    template, operation = found
    named = {parameter["name"] for parameter in _parameters(operation) if parameter["in"] == "query"}
    unknown = set(query) - named
    if unknown:
        return f"{method} {template}: unknown parameters {sorted(unknown)}"
    return _body_fault(method, template, operation, body)


def _body_fault(method: str, template: str, operation: dict[str, Any], body: Any) -> str | None:
    name = f"{method} {template}"
    wanted = operation.get("requestBody")
    if wanted is None:
        return f"{name}: takes no body" if body is not None else None
    if body is None:
        return f"{name}: lacks its body" if wanted.get("required") else None
    schema = wanted["content"]["application/json"]["schema"]
    pointer = f"#/paths/{template.replace('/', '~1')}/{method.lower()}/requestBody/content/application~1json/schema"
    fault = next(_validator(pointer).iter_errors(body), None)
    if fault is not None:
        return f"{name}: {fault.message}"
    unknown = set(body) - _properties(schema)
    return f"{name}: unknown fields {sorted(unknown)}" if isinstance(body, dict) and unknown else None


@cache
def _validator(pointer: str) -> Draft202012Validator:
    return Draft202012Validator({"$ref": f"urn:github{pointer}"}, registry=_registry())


def _properties(schema: dict[str, Any]) -> set[str]:
    parts = [schema, *schema.get("oneOf", ()), *schema.get("anyOf", ()), *schema.get("allOf", ())]
    return {name for part in parts for name in part.get("properties", {})}


def _parameters(operation: dict[str, Any]) -> list[dict[str, Any]]:
    components = _description()["components"]["parameters"]
    return [components[p["$ref"].rpartition("/")[2]] if "$ref" in p else p for p in operation.get("parameters", ())]


@cache
def _operation(method: str, path: str) -> tuple[str, dict[str, Any]] | None:
    for template, pattern, operations in _paths():
        if method in operations and pattern.fullmatch(path):
            return template, operations[method]
    return None


@cache
def _paths() -> list[tuple[str, re.Pattern[str], dict[str, Any]]]:
    """Return the paths, literal ones before those with parameters, so that the most specific one matches."""
    found = []
    for template, operations in _description()["paths"].items():
        pattern = re.sub(r"\\{path\\}", ".+", re.escape(template))
        found.append((template, re.compile(re.sub(r"\\{[^}]+\\}", "[^/]+", pattern)), operations))
    return sorted(found, key=lambda path: path[0].count("{"))


@cache
def _description() -> dict[str, Any]:
    return json.loads(DESCRIPTION.read_text(encoding="utf-8"))


@cache
def _registry() -> Registry:
    return Registry().with_resource("urn:github", Resource.from_contents(_description(), DRAFT202012))
