"""The API's description (OpenAPI 3.1), generated from its routes, its handlers and its models."""

import inspect
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema
from starlette.routing import BaseRoute
from starlette.schemas import SchemaGenerator

from bot.server.api import models
from nodes.described import Described

Handler = TypeVar("Handler", bound=Callable[..., Any])
Model = type[BaseModel]
_SCHEMAS = "#/components/schemas/"
_PROBLEMS = {
    400: "The body is not JSON, or the key is malformed.",
    401: "The request has no valid token.",
    404: "Not found, or the App is not installed there.",
    408: "The body arrived too slowly.",
    409: "The idempotency key was used for another request.",
    413: "The body is too large.",
    415: "The body is not sent as JSON.",
    422: "The body is not valid.",
    429: "Too many runs are unfinished.",
    503: "The store does not answer.",
}
"""The meanings of the error responses, by status."""


def operation(
    name: str,
    status: int,
    answer: Model,
    problems: Sequence[int],
    *,
    body: Sequence[Model] = (),
    parameters: Sequence[dict[str, Any]] = (),
    **of_answer: Any,
) -> Callable[[Handler], Handler]:
    """Describe a handler, whose docstring is the summary: what it answers, and one of the models that it reads."""
    described: dict[str, Any] = {"operationId": name, "parameters": list(parameters)}
    if body:
        content = {"application/json": {"schema": {"oneOf": [_ref(model) for model in body]}}}
        described["requestBody"] = {"required": True, "content": content}
    answered = {"description": inspect.getdoc(answer), "content": {"application/json": {"schema": _ref(answer)}}}
    problem = {models.TYPE: {"schema": _ref(models.Problem)}}
    described["responses"] = {str(status): answered | of_answer} | {
        str(code): {"description": _PROBLEMS[code], "content": problem} for code in problems
    }

    def describe(handler: Handler) -> Handler:
        handler.operation = described | {"summary": inspect.getdoc(handler)}  # type: ignore[attr-defined]
        return handler

    return describe


class _Generator(SchemaGenerator):
    def parse_docstring(self, func_or_method: Callable[..., Any]) -> dict[str, Any]:
        return getattr(func_or_method, "operation", {})


def describe_routes(prefix: str, routes: list[BaseRoute]) -> dict[str, Any]:
    """Return the whole document for the routes below a prefix."""
    given: list[tuple[Model, JsonSchemaMode]] = [
        *((model, "validation") for model in (models.IssueRun, models.TextRun)),
        *((model, "serialization") for model in (models.Run, models.Problem)),
    ]
    _, schemas = models_json_schema(given, ref_template=f"{_SCHEMAS}{{model}}", schema_generator=Described)
    about = {"title": "Tracehound", "version": "1", "description": "Triage an issue, and read the result."}
    security = {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}, "schemas": schemas["$defs"]}
    document = {"openapi": "3.1.0", "info": about, "servers": [{"url": prefix}], "security": [{"token": []}]}
    return _Generator({**document, "components": security}).get_schema(routes)


def _ref(model: Model) -> dict[str, str]:
    return {"$ref": f"{_SCHEMAS}{model.__name__}"}
