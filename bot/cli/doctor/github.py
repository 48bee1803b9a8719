"""Check the App's registration on GitHub, and one repository: read access, configuration and labels."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from functools import partial

from bot.cli.doctor.checks import Check
from bot.errors import BotError, UserError
from bot.github.registration import RegisteredApp, fetch_registered_app
from bot.github.repository import RepositoryClient
from bot.runs.remote import opened, token_for
from bot.server.registration import registration
from bot.settings import Settings
from bot.settings.repository import RepositoryConfig
from bot.settings.repository_file import find_config
from bot.settings.server import app_key

_WEBHOOK = "/webhooks/github"
_check = partial(Check, part="App")
_LEVELS = ("none", "read", "write", "admin")
FULL_NAME = re.compile(r"[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}")


def check_app(settings: Settings) -> Iterator[Check]:
    """Compare the App's registration on GitHub with what the App needs."""
    key = app_key(settings)
    if settings.github_app_id is None:
        says = "none is configured; `triage serve` or `triage app create` registers one"
        yield _check(ok=True, name="App", says=says, brief="none; `triage serve` registers one")
        return
    if key is None:
        yield _check(ok=False, name="App", says="its private key cannot be read: set GITHUB_PRIVATE_KEY_PATH")
        return
    try:
        app = asyncio.run(fetch_registered_app(str(settings.github_app_id), key, settings.github_api_url))
    except (BotError, ValueError, TypeError) as error:
        yield _check(ok=False, name="App", says=f"GitHub does not know it: {str(error)[:200]}")
        return
    yield _check(ok=True, name="App", says=f"{app.slug}, its name on GitHub", brief=app.slug)
    yield _permissions(app.permissions)
    yield _events(app.events)
    yield _hook(app, settings)
    yield _pulls(app.permissions)


def _permissions(held: Mapping[str, str]) -> Check:
    needed: Mapping[str, str] = registration()["default_permissions"]
    lacking = [f"{name}: {level}" for name, level in needed.items() if _rank(held.get(name)) < _rank(level)]
    known = {"pull_requests": "read", **needed}
    spare = [f"{name}: {level}" for name, level in held.items() if _rank(level) > _rank(known.get(name))]
    if lacking:
        says = f"lacks {', '.join(lacking)}: add it on the App's settings page, and accept it where it is installed"
        return _check(ok=False, name="App's permissions", says=says)
    surplus = f"; has permissions that it does not need; you may remove them: {', '.join(spare)}" if spare else ""
    says = f"as in app.yml{surplus}"
    return _check(ok=True, name="App's permissions", says=says, brief=f"permissions {says}")


def _pulls(held: Mapping[str, str]) -> Check:
    """State what the optional permission adds; its absence is not a fault."""
    may = _rank(held.get("pull_requests")) > 0
    says = (
        "reports name open pull requests too"
        if may
        else ("reports name no open pull requests; the optional permission pull_requests: read would allow it")
    )
    return _check(ok=True, name="pull requests", says=says, brief=says)


def _rank(level: str | None) -> int:
    return _LEVELS.index(level) if level in _LEVELS else 0


def _events(subscribed: frozenset[str]) -> Check:
    lacking = sorted(set(registration()["default_events"]) - subscribed)
    says = f"lacks {', '.join(lacking)}: tick it on the App's settings page" if lacking else "as in app.yml"
    return _check(ok=not lacking, name="App's events", says=says, brief="events as in app.yml")


def _hook(app: RegisteredApp, settings: Settings) -> Check:
    name = "App's webhook"
    if not app.hook_url:
        return _check(ok=False, name=name, says="has no address: set one that ends with /webhooks/github")
    if app.hook_insecure:
        return _check(ok=False, name=name, says=f"{app.hook_url} is called without certificate verification: enable it")
    public = (settings.triage_public_url or "").rstrip("/")
    if public and app.hook_url != f"{public}{_WEBHOOK}":
        says = f"goes to {app.hook_url}, but TRIAGE_PUBLIC_URL says {public}{_WEBHOOK}"
        # smee.io forwards deliveries, so its address legitimately differs from the public one.
        return _check(ok="smee.io/" in app.hook_url, name=name, says=says, brief=f"webhook {says}")
    ends = app.hook_url.endswith(_WEBHOOK) or "smee.io/" in app.hook_url
    says = f"goes to {app.hook_url}" if ends else f"goes to {app.hook_url}, which does not end with {_WEBHOOK}"
    return _check(ok=ends, name=name, says=says, brief=f"webhook {says}")


def check_repository(full_name: str, settings: Settings) -> Iterator[Check]:
    """Check what a run in the repository would encounter.

    Raises:
        UserError: the name is not owner/name.
    """
    if not FULL_NAME.fullmatch(full_name):
        raise UserError(f"--github {full_name}: write owner/name")
    try:
        yield from asyncio.run(_checked(full_name, settings))
    except BotError as error:
        says = f"cannot be read: {error}; install the App there, or set GITHUB_TOKEN"
        yield Check(ok=False, name=full_name, says=says, part="repository")


async def _checked(full_name: str, settings: Settings) -> list[Check]:
    return [check async for check in _checks(full_name, settings)]


async def _checks(full_name: str, settings: Settings) -> AsyncIterator[Check]:
    async with opened(full_name, settings, await token_for(full_name, settings)) as client:
        sha = await client.tip()
        says = f"can be read; its default branch is at {sha[:10] if sha else 'no commit'}"
        yield Check(ok=True, name=full_name, says=says, part="repository", brief=f"{full_name} can be read")
        found = await find_config(client)
        faults = "; ".join(map(str, found.faults))
        says = f"`.github/triage.yml`: {faults}" if faults else f"mode {found.config.mode}"
        yield Check(ok=not faults, name="its configuration", says=says, part="repository")
        missing = await missing_labels(client, found.config)
        says = (
            "these labels do not exist, so they are never set; create them, or remove them "
            f"from the configuration: {', '.join(missing)}"
            if missing
            else "all there"
        )
        brief = f"its configuration names labels that do not exist: {', '.join(missing)}" if missing else ""
        sound = not (set(found.config.labels.map.values()) & set(missing))
        yield Check(ok=sound, name="its labels", says=says, part="repository", brief=brief)


async def missing_labels(client: RepositoryClient, config: RepositoryConfig) -> list[str]:
    """Return the labels, sorted, that a configuration names and that do not exist in the repository."""
    wanted = {*config.labels.map.values(), *(label for label in config.labels.allowed if "*" not in label)}
    return sorted(wanted - await client.repository_labels())
