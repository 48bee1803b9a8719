"""The API's description (OpenAPI 3.1) and the JSON Schemas of all documents, generated from the models in use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Literal

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from bot.report.document import result_schema
from bot.server.api.models import IssueRun, Problem, Run, TextRun
from bot.server.api.stored import (
    FactPage,
    OutcomePage,
    OutcomeQuery,
    Query,
    ReportPage,
    ReportQuery,
    RepositoryPage,
    RepositoryQuery,
    RunPage,
    RunQuery,
    StoredFact,
    StoredOutcome,
    StoredReport,
    StoredRepository,
    TriageRun,
    UsagePage,
    UsageQuery,
    WholeRun,
)
from bot.settings.operator import operator_schema
from bot.settings.repository import config_schema

PREFIX = "/api/v1"
DOCUMENT = "/openapi.json"

_DESCRIPTIONS = {
    "400": "The body is not JSON, or the key is malformed.",
    "401": "The request has no valid token.",
    "404": "Not found, or the App is not installed there, or the token does not read it.",
    "408": "The body arrived too slowly.",
    "409": "The idempotency key was used for another request.",
    "413": "The body is too large.",
    "415": "The body is not sent as JSON.",
    "422": "The body or a parameter is not valid.",
    "429": "Too many runs are unfinished.",
    "503": "The store does not answer.",
}
_Model = tuple[type[BaseModel], Literal["validation", "serialization"]]
_EXAMPLE = {"repository": "octo/feedbox", "issue": 42}
SCHEMAS: Mapping[str, Callable[[], dict[str, Any]]] = {
    "triage-result.json": result_schema,
    "triage.yml.json": config_schema,
    "operator.yml.json": operator_schema,
}
"""JSON Schemas by the name under which the server and the documentation publish them, each with an `$id`."""

MODELS: tuple[type[BaseModel], ...] = (
    RepositoryPage, RunPage, ReportPage, FactPage, OutcomePage, UsagePage, WholeRun,
)  # fmt: skip
_LISTINGS: tuple[tuple[str, str, type[Query], type[BaseModel], type[BaseModel], str], ...] = (
    ("/repositories", "listRepositories", RepositoryQuery, RepositoryPage, StoredRepository, "The repositories."),
    ("runs", "listRuns", RunQuery, RunPage, TriageRun, "The runs that the App made, the newest first."),
    ("reports", "listReports", ReportQuery, ReportPage, StoredReport, "The reports of these runs."),
    ("facts", "listFacts", ReportQuery, FactPage, StoredFact, "The checked facts of these reports."),
    ("outcomes", "listOutcomes", OutcomeQuery, OutcomePage, StoredOutcome, "How reports compared with the fixes."),
    ("usage", "listUsage", UsageQuery, UsagePage, UsagePage, "What was used, by day."),
)
_ONE = "/repositories/{owner}/{name}"
_NUMBER = {"type": "integer", "minimum": 1, "maximum": 999_999_999}


def reading_paths(problems: Any) -> dict[str, Any]:
    """Return the paths."""
    paths: dict[str, Any] = {}
    for path, operation, query, page, item, summary in _LISTINGS:
        codes = ("401", "422", "503") if path.startswith("/") else ("401", "404", "422", "503")
        described = {
            "operationId": operation,
            "summary": summary,
            "parameters": [*([] if path.startswith("/") else _repository()), *_parameters(query)],
            "responses": {"200": _page(page, item), **problems(*codes)},
        }
        paths[path if path.startswith("/") else f"{_ONE}/{path}"] = {"get": described}
    paths[f"{_ONE}/runs/{{issue}}/{{run}}"] = {"get": _run(problems)}
    return paths


def _run(problems: Any) -> dict[str, Any]:
    numbers = [{"name": name, "in": "path", "required": True, "schema": _NUMBER} for name in ("issue", "run")]
    found = {"description": "The run.", "content": {"application/json": {"schema": _ref(WholeRun.__name__)}}}
    return {
        "operationId": "getTriageRun",
        "summary": "One run that the App made, with its result.",
        "parameters": [*_repository(), *numbers],
        "responses": {"200": found, **problems("401", "404", "422", "503")},
    }


def _page(page: type[BaseModel], item: type[BaseModel]) -> dict[str, Any]:
    return {
        "description": f"One page; as JSON lines, all items from the cursor on, each a {item.__name__}.",
        "content": {
            "application/json": {"schema": _ref(page.__name__)},
            "application/x-ndjson": {"schema": {"type": "string"}},
        },
    }


def _repository() -> list[dict[str, Any]]:
    name = {"type": "string", "pattern": "^[A-Za-z0-9_.-]{1,100}$"}
    return [{"name": part, "in": "path", "required": True, "schema": name} for part in ("owner", "name")]


def _parameters(query: type[Query]) -> list[dict[str, Any]]:
    """Describe each field of a query as a parameter; an optional one is left out instead of being null."""
    found = []
    for name, schema in query.model_json_schema()["properties"].items():
        rest = {key: value for key, value in schema.items() if key not in ("anyOf", "title", "description", "default")}
        kinds = [option for option in schema.get("anyOf", ()) if option != {"type": "null"}]
        default = {} if schema.get("default") is None else {"default": schema["default"]}
        described = {"name": name, "in": "query", "description": schema["description"]}
        found.append({**described, "schema": {**(kinds[0] if kinds else rest), **default}})
    return found


@cache
def openapi() -> dict[str, Any]:
    """Return the whole document."""
    requests: list[_Model] = [(IssueRun, "validation"), (TextRun, "validation")]
    shown: tuple[type[BaseModel], ...] = (Run, Problem, *MODELS)
    responses: list[_Model] = [(model, "serialization") for model in shown]
    _, definitions = models_json_schema(
        [*requests, *responses],
        ref_template="#/components/schemas/{model}",
    )
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Tracehound",
            "version": "1",
            "description": "Triage an issue, and read results and what the App stored.",
        },
        "servers": [{"url": PREFIX}],
        "security": [{"token": []}],
        "paths": {
            "/runs": {"post": _create()},
            "/runs/{id}": {"get": _get()},
            **reading_paths(_problems),
        },
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": definitions["$defs"],
        },
    }


def _create() -> dict[str, Any]:
    body_schema = {"oneOf": [_ref("IssueRun"), _ref("TextRun")]}
    key = {
        "name": "Idempotency-Key",
        "in": "header",
        "description": "A repeated request with the same key returns the same run.",
        "schema": {"type": "string", "pattern": "^[\\x21-\\x7e]{1,255}$"},
    }
    link = {"operationId": "getRun", "parameters": {"id": "$response.body#/id"}}
    taken = {
        "description": "The run waits for a worker.",
        "headers": {"Location": {"description": "The address of the run.", "schema": {"type": "string"}}},
        "content": _json("Run"),
        "links": {"run": link},
    }
    return {
        "operationId": "createRun",
        "summary": "Triage an issue, or a text that is not an issue yet. Nothing is written to GitHub.",
        "parameters": [key],
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": body_schema, "example": _EXAMPLE}},
        },
        "responses": {"202": taken, **_problems("400", "401", "404", "408", "409", "413", "415", "422", "429", "503")},
    }


def _get() -> dict[str, Any]:
    number = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
    return {
        "operationId": "getRun",
        "summary": "The current state of a run: queued, running, finished with its result, or failed.",
        "parameters": [number],
        "responses": {"200": {"description": "The run.", "content": _json("Run")}, **_problems("401", "404", "503")},
    }


def _problems(*codes: str) -> dict[str, Any]:
    content = {"application/problem+json": {"schema": _ref("Problem")}}
    return {code: {"description": _DESCRIPTIONS[code], "content": content} for code in codes}


def _json(name: str) -> dict[str, Any]:
    return {"application/json": {"schema": _ref(name)}}


def _ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}
