"""The App's registration on GitHub: permissions, events and webhook."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bot.errors import GoneError
from bot.github.session import Session
from bot.github.values import Json, text


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
    """Query GitHub as the App.

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
        found: Json = (await session.send("GET", "/app/hook/config", authorization=authorization)).object()
    except GoneError:
        return {}
    return found
