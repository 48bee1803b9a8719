"""Fetches the credentials of an App that GitHub has just created from a manifest."""

from __future__ import annotations

import re
from dataclasses import dataclass

import httpx
from pydantic import BaseModel, ValidationError

from bot.errors import UserError

_CODE = re.compile(r"[A-Za-z0-9_-]{1,200}")
_HEADERS = {"Accept": "application/vnd.github+json", "User-Agent": "tracehound"}
_PATIENCE = 20.0
"""httpx's timeout for each network operation, in seconds."""


@dataclass(frozen=True, slots=True)
class NewApp:
    """An App with its secrets. GitHub sends them only once."""

    id: int
    slug: str
    private_key: str
    webhook_secret: str
    client_id: str
    client_secret: str


async def exchange_code(api_url: str, code: str) -> NewApp:
    """Exchange the code for the App, without retries: a code that was sent is used up, whatever the response.

    Raises:
        UserError: The exchange failed; the message says what to do.
    """
    if not _CODE.fullmatch(code):
        raise UserError("GitHub sent no code. Start again")
    try:
        async with httpx.AsyncClient(timeout=_PATIENCE, headers=_HEADERS) as http:
            answer = await http.post(f"{api_url.rstrip('/')}/app-manifests/{code}/conversions")
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise UserError(
            f"GitHub's API at {api_url} gave no answer ({type(error).__name__}): the App may exist there, but"
            " its key is lost. Delete it on GitHub, and start again"
        ) from error
    if answer.status_code != 201:
        raise UserError(
            f"GitHub answered {answer.status_code}: the code is unknown, or older than an hour. Start again"
        )
    return _read(answer)


def _read(answer: httpx.Response) -> NewApp:
    try:
        response = _Answer.model_validate_json(answer.content)
    except ValidationError as error:
        raise UserError("GitHub's response contains no App: delete the App on GitHub, and start again") from error
    return NewApp(
        response.id, response.slug, response.pem, response.webhook_secret, response.client_id, response.client_secret
    )


class _Answer(BaseModel):
    id: int
    slug: str
    pem: str
    webhook_secret: str
    client_id: str
    client_secret: str
