"""Requests, responses and errors (RFC 9457) of the HTTP API."""

from collections.abc import Mapping
from datetime import datetime
from http import HTTPStatus
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from bot.report.document import Result
from bot.store.databases.database import StoreError
from bot.store.runs.api_runs import TooManyRunsError

_NAME = r"^[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}$"
MAX_BODY = 250_000
"""Characters of an issue's text; GitHub's own limit is 65,536."""
Repository = Annotated[
    str, Field(pattern=_NAME, description="owner/name of a repository that the App is installed in.")
]
TYPE = "application/problem+json"


class Fault(BaseModel):
    """One error in a request."""

    where: str
    says: str


class Problem(BaseModel):
    """An error response (RFC 9457)."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str | None = None
    errors: list[Fault] = []


class ProblemError(Exception):
    """A request failed; the error carries the problem document to send."""

    def __init__(
        self,
        status: int,
        detail: str | None = None,
        *,
        errors: list[Fault] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.problem = Problem(title=HTTPStatus(status).phrase, status=status, detail=detail, errors=errors or [])
        self.headers = headers

    def answer(self) -> Response:
        """Return the response with the problem document."""
        body = self.problem.model_dump_json(exclude_none=True)
        return Response(body, self.problem.status, self.headers, media_type=TYPE)


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


def invalid(error: ValidationError) -> ProblemError:
    """Convert a validation error of a request body into a problem that lists each error with its location."""
    faults = error.errors(include_url=False, include_context=False, include_input=False)
    if any(fault["type"] == "json_invalid" for fault in faults):
        return ProblemError(400, "the body is not valid JSON")
    named = [Fault(where=".".join(map(str, fault["loc"])), says=fault["msg"]) for fault in faults]
    return ProblemError(422, "give `repository` and either `issue` or `title` with `body`", errors=named[:20])


async def answer_problem(_request: Request, error: Exception) -> Response:
    """Answer any error with a problem document; an exception handler for Starlette."""
    if isinstance(error, ProblemError):
        return error.answer()
    if isinstance(error, HTTPException):
        detail = error.detail if error.detail != HTTPStatus(error.status_code).phrase else None
        return ProblemError(error.status_code, detail, headers=error.headers).answer()
    if isinstance(error, StoreError):
        return ProblemError(503, "the store does not answer", headers={"Retry-After": "5"}).answer()
    if isinstance(error, TooManyRunsError):
        return ProblemError(429, "too many runs are unfinished", headers={"Retry-After": "60"}).answer()
    return ProblemError(500, "internal error; see the log").answer()


def _whole(value: object) -> object:
    """Convert 7.0 to 7: JSON Schema counts 7.0 as an integer, but pydantic's strict mode does not."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Number = Annotated[int, Field(ge=1, le=2**31 - 1), BeforeValidator(_whole)]
Retries = Annotated[
    Annotated[int, Field(ge=0, le=5), BeforeValidator(_whole)] | None,
    Field(description="How often a weak draft is retried: null means 2, 0 means never."),
]


class IssueRun(_Request):
    """Triage an existing issue. Nothing is written to it."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"repository": "octo/feedbox", "issue": 42}]})
    repository: Repository
    issue: Number = Field(description="The issue's number.")
    max_retries: Retries = None


class TextRun(_Request):
    """Triage a text that is not an issue yet."""

    repository: Repository
    title: str = Field(min_length=1, max_length=1_000)
    body: str = Field("", max_length=MAX_BODY)
    max_retries: Retries = None


RunRequest = IssueRun | TextRun
read_request: TypeAdapter[RunRequest] = TypeAdapter(RunRequest)


class Run(BaseModel):
    """The current state of a run."""

    id: str
    state: Literal["queued", "running", "finished", "failed"]
    request: RunRequest
    created_at: datetime
    finished_at: datetime | None = None
    commit: str | None = Field(None, description="The full SHA of the commit that was searched.")
    result: Result | None = Field(None, description="The result of the run, as `triage run --format json` prints it.")
    fault: str | None = Field(None, description="Why a failed run has no result.")
