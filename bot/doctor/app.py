"""Check the App as registered on GitHub: permissions, events and the webhook address."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping

from bot.doctor.check import Check
from bot.errors import BotError
from bot.github.registered import RegisteredApp, fetch_registered_app
from bot.registration.manifest import registration
from bot.server_settings import app_key
from bot.settings import Settings

_WEBHOOK = "/webhooks/github"
_LEVELS = ("none", "read", "write", "admin")


def check_app(settings: Settings) -> Iterator[Check]:
    """Compare the App's registration on GitHub with what the App needs."""
    key = app_key(settings)
    if settings.github_app_id is None:
        yield Check(ok=True, name="App", says="none is configured; `triage serve` or `triage app create` registers one")
        return
    if key is None:
        yield Check(ok=False, name="App", says="its private key cannot be read: set GITHUB_PRIVATE_KEY_PATH")
        return
    try:
        app = asyncio.run(fetch_registered_app(str(settings.github_app_id), key, settings.github_api_url))
    except (BotError, ValueError, TypeError) as error:
        yield Check(ok=False, name="App", says=f"GitHub does not know it: {str(error)[:200]}")
        return
    yield Check(ok=True, name="App", says=f"{app.slug}, as GitHub calls it")
    yield _permissions(app.permissions)
    yield _events(app.events)
    yield _hook(app, settings)


def _permissions(held: Mapping[str, str]) -> Check:
    needed: Mapping[str, str] = registration()["default_permissions"]
    lacking = [f"{name}: {level}" for name, level in needed.items() if _rank(held.get(name)) < _rank(level)]
    spare = [f"{name}: {level}" for name, level in held.items() if _rank(level) > _rank(needed.get(name))]
    if lacking:
        says = f"lacks {', '.join(lacking)}: add it on the App's settings page, and accept it where it is installed"
        return Check(ok=False, name="App's permissions", says=says)
    surplus = f"; has permissions that it does not need; you may remove them: {', '.join(spare)}" if spare else ""
    return Check(ok=True, name="App's permissions", says=f"as in app.yml{surplus}")


def _rank(level: str | None) -> int:
    return _LEVELS.index(level) if level in _LEVELS else 0


def _events(subscribed: frozenset[str]) -> Check:
    lacking = sorted(set(registration()["default_events"]) - subscribed)
    says = f"lacks {', '.join(lacking)}: tick it on the App's settings page" if lacking else "as in app.yml"
    return Check(ok=not lacking, name="App's events", says=says)


def _hook(app: RegisteredApp, settings: Settings) -> Check:
    name = "App's webhook"
    if not app.hook_url:
        return Check(ok=False, name=name, says="has no address: set one that ends with /webhooks/github")
    if app.hook_insecure:
        return Check(ok=False, name=name, says=f"{app.hook_url} is called without certificate verification: enable it")
    public = (settings.triage_public_url or "").rstrip("/")
    if public and app.hook_url != f"{public}{_WEBHOOK}":
        says = f"goes to {app.hook_url}, but TRIAGE_PUBLIC_URL says {public}{_WEBHOOK}"
        # smee.io forwards deliveries, so its address legitimately differs from the public one.
        return Check(ok="smee.io/" in app.hook_url, name=name, says=says)
    ends = app.hook_url.endswith(_WEBHOOK) or "smee.io/" in app.hook_url
    says = f"goes to {app.hook_url}" if ends else f"goes to {app.hook_url}, which does not end with {_WEBHOOK}"
    return Check(ok=ends, name=name, says=says)
