"""Requests and responses of the HTTP API."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter

from bot.report.document import Result

_NAME = r"^[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}$"
MAX_BODY = 250_000
"""Characters of an issue's text; GitHub's own limit is 65,536."""

Repository = Annotated[
    str, Field(pattern=_NAME, description="owner/name of a repository that the App is installed in.")
]


def _whole(value: object) -> object:
    """Convert 7.0 to 7: JSON Schema counts 7.0 as an integer, but pydantic's strict mode does not."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Number = Annotated[int, Field(ge=1, le=2**31 - 1), BeforeValidator(_whole)]
Retries = Annotated[
    Annotated[int, Field(ge=0, le=5), BeforeValidator(_whole)] | None,
    Field(description="How often a weak draft is retried: null means 2, 0 means never."),
]


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class IssueRun(_Request):
    """Triage an existing issue. Nothing is written to it."""

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
