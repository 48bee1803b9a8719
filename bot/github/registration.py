"""The App's registration on GitHub: its creation from a manifest, its permissions, events and webhook."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import httpx
from pydantic import BaseModel, ValidationError

from bot.errors import GoneError, UserError, unanswered
from bot.github.session import Session
from bot.github.values import Json, text

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
        # Not the `Session`: the code in the path is the only credential, and there is no App yet to sign for.
        async with httpx.AsyncClient(timeout=_PATIENCE, headers=_HEADERS) as http:
            response = await http.post(f"{api_url.rstrip('/')}/app-manifests/{code}/conversions")
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise UserError(
            f"{unanswered(api_url, error)}: the App may exist there, but"
            " its key is lost. Delete it on GitHub, and start again"
        ) from error
    if response.status_code != 201:
        raise UserError(
            f"GitHub answered {response.status_code}: the code is unknown, or older than an hour. Start again"
        )
    return _read(response)


def _read(response: httpx.Response) -> NewApp:
    try:
        app = _CreatedApp.model_validate_json(response.content)
    except ValidationError as error:
        raise UserError("GitHub's response contains no App: delete the App on GitHub, and start again") from error
    return NewApp(app.id, app.slug, app.pem, app.webhook_secret, app.client_id, app.client_secret)


class _CreatedApp(BaseModel):
    id: int
    slug: str
    pem: str
    webhook_secret: str
    client_id: str
    client_secret: str


@dataclass(frozen=True, slots=True)
class RegisteredApp:
    """The App as its settings page shows it."""

    slug: str
    permissions: Mapping[str, str]
    events: frozenset[str]
    hook_url: str
    """Empty if there is none."""
    hook_insecure: bool
    """Certificates are not verified."""


async def fetch_registered_app(app_id: str, private_key: str, api_url: str) -> RegisteredApp:
    """Return the App's registration, requested with the App's own key.

    Raises:
        BotError: GitHub does not know the App, or cannot be reached.
        ValueError: The key is not a private key.
    """
    session = Session(app_id=app_id, private_key=private_key, api_url=api_url)
    try:
        authorization = await session.app_authorization()
        app: Json = (await session.send("GET", "/app", authorization=authorization)).object()
        hook = await _hook(session, authorization)
    finally:
        await session.aclose()
    return RegisteredApp(
        slug=text(app.get("slug")),
        permissions={str(name): str(level) for name, level in (app.get("permissions") or {}).items()},
        events=frozenset(map(str, app.get("events") or ())),
        hook_url=text(hook.get("url")),
        hook_insecure=str(hook.get("insecure_ssl", "0")) == "1",
    )


async def _hook(session: Session, authorization: str) -> Json:
    try:
        config: Json = (await session.send("GET", "/app/hook/config", authorization=authorization)).object()
    # An App may have no webhook.
    except GoneError:
        return {}
    return config
