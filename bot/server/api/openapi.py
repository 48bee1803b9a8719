"""The API's description (OpenAPI 3.1), generated from the models in use."""

from __future__ import annotations

from functools import cache
from typing import Any, Literal

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from bot.server.api.models import IssueRun, Problem, Run, TextRun
from bot.server.api.openapi_reading import MODELS, reading_paths

PREFIX = "/api/v1"
DOCUMENT = "/openapi.json"

_SAYS = {
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
    either = {"oneOf": [_ref("IssueRun"), _ref("TextRun")]}
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
            "content": {"application/json": {"schema": either, "example": _EXAMPLE}},
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
    return {code: {"description": _SAYS[code], "content": content} for code in codes}


def _json(name: str) -> dict[str, Any]:
    return {"application/json": {"schema": _ref(name)}}


def _ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}
