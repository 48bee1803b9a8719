"""The description of the read API (OpenAPI 3.1), generated from its queries and pages."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

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
    """Return the paths.

    Args:
        problems: returns the error responses of status codes.
    """
    paths: dict[str, Any] = {}
    for path, operation, query, page, item, says in _LISTINGS:
        codes = ("401", "422", "503") if path.startswith("/") else ("401", "404", "422", "503")
        described = {
            "operationId": operation,
            "summary": says,
            "parameters": [*([] if path.startswith("/") else _repository()), *_parameters(query)],
            "responses": {"200": _page(page, item), **problems(*codes)},
        }
        paths[path if path.startswith("/") else f"{_ONE}/{path}"] = {"get": described}
    paths[f"{_ONE}/runs/{{issue}}/{{run}}"] = {"get": _run(problems)}
    return paths


def _run(problems: Any) -> dict[str, Any]:
    numbers = [{"name": name, "in": "path", "required": True, "schema": _NUMBER} for name in ("issue", "run")]
    found = {"description": "The run.", "content": {"application/json": {"schema": _ref(WholeRun)}}}
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
            "application/json": {"schema": _ref(page)},
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
        kinds = [one for one in schema.get("anyOf", ()) if one != {"type": "null"}]
        default = {} if schema.get("default") is None else {"default": schema["default"]}
        described = {"name": name, "in": "query", "description": schema["description"]}
        found.append({**described, "schema": {**(kinds[0] if kinds else rest), **default}})
    return found


def _ref(model: type[BaseModel]) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{model.__name__}"}
