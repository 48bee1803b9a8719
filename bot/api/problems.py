"""API errors as problem documents (RFC 9457). They never echo the request."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus

from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from bot.api.models import Fault, Problem

TYPE = "application/problem+json"


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


def invalid(error: ValidationError) -> ProblemError:
    """Convert a validation error of a request body into a problem that lists each error with its location."""
    faults = error.errors(include_url=False, include_context=False, include_input=False)
    if any(fault["type"] == "json_invalid" for fault in faults):
        return ProblemError(400, "the body is not valid JSON")
    named = [Fault(where=".".join(map(str, fault["loc"])), says=fault["msg"]) for fault in faults]
    return ProblemError(422, "give `repository` and either `issue` or `title` with `body`", errors=named[:20])


async def answer_problem(_request: Request, error: Exception) -> Response:
    """Exception handler for Starlette: answer any error with a problem document."""
    if isinstance(error, ProblemError):
        return error.answer()
    if isinstance(error, HTTPException):
        return ProblemError(error.status_code, headers=error.headers).answer()
    return ProblemError(500, "internal error; see the log").answer()
