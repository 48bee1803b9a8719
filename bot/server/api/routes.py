"""``/api/v1``: request runs and read their results; the API's description (OpenAPI 3.1)."""

import json
import re
import secrets
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from typing import Any

from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route

from bot.jobs import ApiRun
from bot.server.api import models
from bot.server.api.description import describe_routes, operation
from bot.server.connections.bodies import read_body
from bot.server.web.security import has_bearer_token
from bot.settings.environment import Settings
from bot.store.databases.database import StoreError
from bot.store.runs.api_runs import StoredRun, TooManyRunsError
from bot.store.tables import Store

PREFIX = "/api/v1"
DOCUMENT = "/openapi.json"
MAX_REQUEST = 6 * models.MAX_BODY + 10_000
"""Bytes of a request body: in JSON, one character may be escaped to six bytes."""
MOST_KEYS = 50
"""Keys of a request's object; more are refused without looking at each."""
REQUEST_SECONDS = 30.0
"""Seconds within which the whole body must arrive."""
_KEY = re.compile(r"[\x21-\x7e]{1,255}")


def api_routes(settings: Settings, store: Store, wake: Callable[[], None]) -> Mount:
    """Mount the API, with public descriptions. Runs require TRIAGE_API_TOKEN or the operator's token."""
    handlers = dict.fromkeys(
        (models.ProblemError, HTTPException, StoreError, TooManyRunsError, Exception), models.answer_problem
    )
    mount = Mount(PREFIX, app=Starlette(routes=_routes(_Api(settings, store, wake)), exception_handlers=handlers))
    # Otherwise a path with a newline (%0A) is not below the prefix, and its 404 is not a problem document.
    mount.path_regex = re.compile(mount.path_regex.pattern, re.DOTALL)
    return mount


def _routes(api: "_Api | type[_Api]") -> list[BaseRoute]:
    return [
        Route("/runs", api.create, methods=["POST"]),
        Route("/runs/{id}", api.get, methods=["GET"]),
        Route(DOCUMENT, _describe, methods=["GET"]),
    ]


async def _describe(_request: Request) -> Response:
    return JSONResponse(openapi())


class _Api:
    def __init__(self, settings: Settings, store: Store, wake: Callable[[], None]) -> None:
        self._tokens = (settings.triage_api_token, settings.triage_admin_token)
        self._store = store
        self._wake = wake

    @operation(
        "createRun",
        202,
        models.Run,
        (400, 401, 404, 408, 409, 413, 415, 422, 429, 503),
        body=(models.IssueRun, models.TextRun),
        parameters=[
            {
                "name": "Idempotency-Key",
                "in": "header",
                "description": "A repeated request with the same key returns the same run.",
                "schema": {"type": "string", "pattern": f"^{_KEY.pattern}$"},
            }
        ],
        headers={"Location": {"description": "The address of the run.", "schema": {"type": "string"}}},
        links={"run": {"operationId": "getRun", "parameters": {"id": "$response.body#/id"}}},
    )
    async def create(self, request: Request) -> Response:
        """Triage an issue, or a text that is not an issue yet. Nothing is written to GitHub."""
        self._admit(request)
        asked, key = await _read(request), _key(request)
        # Only repositories with the App installed can be named, so the API reaches nothing that the App could not.
        ref = await self._store.installations.named(asked.repository)
        if ref is None:
            raise models.ProblemError(
                404, "the App is not installed in that repository, or has received no event of it yet"
            )
        work = ApiRun(ref=ref, id=secrets.token_urlsafe(16))
        run = await self._store.api_runs.accept(work, asked.model_dump_json(), key)
        # A reused idempotency key returns the stored run, so the stored request is compared with this one.
        if json.loads(run.request) != asked.model_dump(mode="json"):
            raise models.ProblemError(409, "this Idempotency-Key was used for another request")
        self._wake()
        return _shown(run, 202, {"Location": f"{PREFIX}/runs/{run.id}"})

    @operation(
        "getRun",
        200,
        models.Run,
        (401, 404, 503),
        parameters=[{"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}],
    )
    async def get(self, request: Request) -> Response:
        """Return the current state of a run: queued, running, finished with its result, or failed."""
        self._admit(request)
        run = await self._store.api_runs.get(request.path_params["id"])
        if run is None:
            raise models.ProblemError(404, "the run does not exist, or was deleted")
        return _shown(run, 200)

    def _admit(self, request: Request) -> None:
        if not has_bearer_token(request, *self._tokens):
            raise models.ProblemError(401, "send a valid token", headers={"WWW-Authenticate": "Bearer"})


def _key(request: Request) -> str | None:
    given = request.headers.get("idempotency-key")
    if given is not None and not _KEY.fullmatch(given):
        raise models.ProblemError(400, "an Idempotency-Key must have 1 to 255 visible characters")
    return given


async def _read(request: Request) -> models.RunRequest:
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise models.ProblemError(415, "send application/json")
    body = await read_body(request, MAX_REQUEST, REQUEST_SECONDS)
    _check_size(body)
    try:
        return models.read_request.validate_json(body)
    except ValidationError as error:
        raise models.invalid(error) from None


def _check_size(body: bytes) -> None:
    """Refuse an object with many keys before each of them becomes an error with a location."""
    try:
        given = json.loads(body)
    except (ValueError, RecursionError):
        return  # the validation names the fault
    if isinstance(given, dict) and len(given) > MOST_KEYS:
        raise models.ProblemError(422, f"the body has more than {MOST_KEYS} keys")


def _shown(run: StoredRun, status: int, headers: dict[str, str] | None = None) -> Response:
    shown = models.Run(
        id=run.id,
        state=run.state,
        request=models.read_request.validate_json(run.request),
        created_at=datetime.fromtimestamp(run.created_at, UTC),
        finished_at=None if run.settled_at is None else datetime.fromtimestamp(run.settled_at, UTC),
        commit=run.sha or None,
        result=None if run.result is None else json.loads(run.result),
        fault=run.fault,
    )
    return Response(shown.model_dump_json(exclude_none=True), status, headers, media_type="application/json")


@cache
def openapi() -> dict[str, Any]:
    """Return the whole document."""
    return describe_routes(PREFIX, _routes(_Api))
