"""Check the App's registration on GitHub, and one repository: read access, configuration and labels."""

import asyncio
import re
from collections.abc import Iterator, Mapping
from functools import partial

from bot.cli.doctor.checks import Check
from bot.errors import BotError, UserError
from bot.github.registration import RegisteredApp, fetch_registered_app
from bot.github.repository import RepositoryClient
from bot.github.tokens import lacking
from bot.runs.remote import opened, token_for
from bot.server.registration import WEBHOOK, registration
from bot.settings.environment import Settings
from bot.settings.repository import RepositoryConfig, find_config
from bot.settings.server import is_without_app, read_app

_check = partial(Check, part="App")
_OPTIONAL = {"pull_requests": "read"}
FULL_NAME = re.compile(r"[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}")


def check_app(settings: Settings) -> Iterator[Check]:
    """Compare the App's registration on GitHub with what the App needs."""
    faults: dict[str, str] = {}
    key, _ = read_app(settings, faults)
    if is_without_app(settings, faults):
        says = "is not configured; `triage serve` or `triage app create` registers one"
        yield _check(ok=True, name="App", says=says)
        return
    yield from (_check(ok=False, name=name.upper(), says=says) for name, says in faults.items())
    if faults:
        return
    try:
        app = asyncio.run(fetch_registered_app(str(settings.github_app_id), key, settings.github_api_url))
    except (BotError, ValueError, TypeError) as error:
        yield _check(ok=False, name="App", says=f"GitHub does not know it: {str(error)[:200]}")
        return
    yield _check(ok=True, name="App", says=app.slug)
    yield _permissions(app.permissions)
    missing = sorted(set(registration()["default_events"]) - app.events)
    says = f"lack {', '.join(missing)}: tick it on the App's settings page" if missing else "are as in app.yml"
    yield _check(ok=not missing, name="App's events", says=says)
    yield _hook(app, settings)
    # The permission is optional, so its absence is not a fault.
    may_not = lacking(app.permissions, _OPTIONAL)
    says = "are not named; the optional permission pull_requests: read would allow it" if may_not else "are named"
    yield _check(ok=True, name="open pull requests", says=says)


def _permissions(held: Mapping[str, str]) -> Check:
    needed: Mapping[str, str] = registration()["default_permissions"]
    missing = ", ".join(f"{name}: {needed[name]}" for name in lacking(held, needed))
    spare = ", ".join(f"{name}: {held[name]}" for name in lacking({**_OPTIONAL, **needed}, held))
    says = "are as in app.yml"
    if missing:
        says = f"lack {missing}: add it on the App's settings page, and accept it where it is installed"
    elif spare:
        says += f"; these are not needed, and you may remove them: {spare}"
    return _check(ok=not missing, name="App's permissions", says=says)


def _hook(app: RegisteredApp, settings: Settings) -> Check:
    public = (settings.triage_public_url or "").rstrip("/")
    # smee.io forwards deliveries, so its address legitimately differs from the public one.
    ok, says = "smee.io/" in app.hook_url, f"goes to {app.hook_url}"
    if not app.hook_url:
        says = f"has no address: set one that ends with {WEBHOOK}"
    elif app.hook_insecure:
        ok, says = False, f"{app.hook_url} is called without certificate verification: enable it"
    elif public and app.hook_url != f"{public}{WEBHOOK}":
        says += f", but TRIAGE_PUBLIC_URL says {public}{WEBHOOK}"
    elif app.hook_url.endswith(WEBHOOK):
        ok = True
    elif not ok:
        says += f", which does not end with {WEBHOOK}"
    return _check(ok=ok, name="App's webhook", says=says)


def check_repository(full_name: str, settings: Settings) -> Iterator[Check]:
    """Check what a run in the repository would encounter; UserError if the name is not owner/name."""
    if not FULL_NAME.fullmatch(full_name):
        raise UserError(f"--github {full_name}: write owner/name")
    try:
        yield from asyncio.run(_checked(full_name, settings))
    except BotError as error:
        says = f"cannot be read: {error}; install the App there, or set GITHUB_TOKEN"
        yield Check(ok=False, name=full_name, says=says, part="repository")


async def _checked(full_name: str, settings: Settings) -> list[Check]:
    async with opened(full_name, settings, await token_for(full_name, settings)) as client:
        sha = await client.tip()
        reads = f"can be read; its default branch is at {sha[:10] if sha else 'no commit'}"
        found = await find_config(client)
        faults = "; ".join(map(str, found.faults))
        missing = await missing_labels(client, found.config)
        unset = f"do not all exist, so these are never set; create or remove them: {', '.join(missing)}"
        return [
            Check(ok=True, name=full_name, says=reads, part="repository"),
            Check(
                ok=not faults,
                name="its configuration",
                says=f"`.github/triage.yml` has faults: {faults}" if faults else f"has mode {found.config.mode}",
                part="repository",
            ),
            Check(
                ok=not (set(found.config.labels.map.values()) & set(missing)),
                name="its labels",
                says=unset if missing else "exist",
                part="repository",
            ),
        ]


async def missing_labels(client: RepositoryClient, config: RepositoryConfig) -> list[str]:
    """Return the labels, sorted, that a configuration names and that do not exist in the repository."""
    wanted = {*config.labels.map.values(), *(label for label in config.labels.allowed if "*" not in label)}
    return sorted(wanted - await client.repository_labels())
