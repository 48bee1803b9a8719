"""Serve the setup pages until an App exists: at the first start of a server, and for ``triage app create``."""

from __future__ import annotations

import asyncio
import logging
import secrets
import socket
import webbrowser
from dataclasses import replace
from typing import Any

import click
from pydantic import SecretStr
from starlette.requests import Request
from starlette.responses import Response

from bot.errors import UserError
from bot.files import DirectoryLock
from bot.github.registration import NewApp
from bot.server.process import listening, serve_until
from bot.server.registration import (
    FILE,
    RequestedApp,
    api_of,
    installation_address,
    is_local,
    read_registration,
    store_registration,
    suggested_name,
)
from bot.server.web.pages.setup import Pending, SetupPages, made, setup_app
from bot.server.web.site import build_authenticator
from bot.settings import Settings, load_settings

logger = logging.getLogger(__name__)


def wait_for_app(settings: Settings, listener: socket.socket) -> bool:
    """Serve the setup pages; return False if the server was stopped before an App was registered.

    Raises:
        UserError: another server uses the data directory, or it is not writable.
    """
    lock = DirectoryLock(settings.triage_data_dir)
    try:
        done = asyncio.Event()
        setup = setup_pages(settings, done)
        _announce(settings, setup, listener)
        # uvicorn closes its socket when it stops; the caller's listener must survive to serve the App.
        serve_until(setup_app(setup), listener.dup(), done)
        return done.is_set()
    finally:
        lock.release()


def setup_pages(settings: Settings, done: asyncio.Event) -> SetupPages:
    """Return the setup pages; those of several servers continue each other's registration and store no secrets."""
    defaults, finish, secret = defaults_of(settings), FinishSetup(settings, done), settings.triage_session_secret
    if secret is None or settings.database_url is None:
        return SetupPages(defaults, finish, done=done)
    # The other servers and the workers would not see the file.
    pending = Pending(secret.get_secret_value().encode())
    return SetupPages(replace(defaults, keep=False), finish, pending, done)


def defaults_of(settings: Settings, server_url: str | None = None) -> RequestedApp:
    """Return the initial values of the setup form."""
    server = (server_url or settings.github_server_url).rstrip("/")
    known = "github_api_url" in settings.model_fields_set and server == settings.github_server_url.rstrip("/")
    return RequestedApp(
        server_url=server,
        api_url=settings.github_api_url if known else api_of(server),
        name=suggested_name(),
        public_url=(settings.triage_public_url or "").rstrip("/"),
    )


def values_of(app: NewApp, requested: RequestedApp, settings: Settings) -> dict[str, str]:
    """Return the settings of a registered App, and a new operator token if none is set."""
    values = {
        "github_app_id": str(app.id),
        "github_private_key": app.private_key,
        "github_webhook_secret": app.webhook_secret,
        "github_client_id": app.client_id,
        "github_client_secret": app.client_secret,
        "github_server_url": requested.server_url,
        "github_api_url": requested.api_url,
    }
    if settings.triage_public_url is None and not is_local(requested.public_url):
        values["triage_public_url"] = requested.public_url
    if settings.triage_admin_token is None:
        values["triage_admin_token"] = secrets.token_urlsafe(24)
    return values


class FinishSetup:
    """Store the App's credentials and log its creator in, or show the secrets once."""

    def __init__(self, settings: Settings, done: asyncio.Event) -> None:
        self._settings = settings
        self._done = done

    async def __call__(self, request: Request, app: NewApp, requested: RequestedApp) -> Response:
        """Handle GitHub's redirect after it created the App."""
        values = values_of(app, requested, self._settings)
        if not requested.keep:
            return made(request, app, requested, values=values)
        response = made(request, app, requested, kept=store_registration(self._settings.triage_data_dir, values))
        # The cookie has to fit the settings that the server reads when it starts with these values.
        given: dict[str, Any] = {}
        if "triage_public_url" in values:
            given["triage_public_url"] = values["triage_public_url"]
        if "triage_admin_token" in values:
            given["triage_admin_token"] = SecretStr(values["triage_admin_token"])
        settings = self._settings.model_copy(update=given)
        build_authenticator(settings).log_in(request, response)
        self._done.set()
        return response


def _announce(settings: Settings, setup: SetupPages, listener: socket.socket) -> None:
    host, port = listener.getsockname()[:2]
    host = "127.0.0.1" if host in ("0.0.0.0", "::") else f"[{host}]" if ":" in host else host  # noqa: S104
    address = (settings.triage_public_url or f"http://{host}:{port}").rstrip("/")
    logger.info(
        "no App is configured; open %s/setup?token=%s to register one",
        *(address, setup.pending.token),
        extra={"action": "setup"},
    )
    if settings.triage_public_url is None:
        message = "TRIAGE_PUBLIC_URL is not set: GitHub needs an address at which it reaches this server"
        logger.warning(message, extra={"action": "setup"})


def create_app(
    *,
    owner: str,
    public_url: str | None,
    webhook_url: str | None,
    server_url: str | None,
    name: str | None,
    keep: bool,
    browse: bool,
) -> None:
    """Serve the setup pages until GitHub has created the App; then store or print its credentials.

    Raises:
        UserError: an App is stored already, its credentials cannot be stored, the server's public address is missing,
            or the command was stopped before the App existed.
    """
    settings = load_settings()
    if keep and read_registration(settings.triage_data_dir):
        raise UserError(f"an App exists already, in {settings.triage_data_dir / FILE}: remove it to use another")
    public = public_url or settings.triage_public_url
    if public is None and webhook_url is None:
        raise UserError(
            "give the address at which GitHub reaches the server: --public-url https://…, or TRIAGE_PUBLIC_URL"
        )
    defaults = defaults_of(settings, server_url)
    requested = replace(
        defaults,
        name=name or defaults.name,
        public_url=(public or f"http://127.0.0.1:{settings.port}").rstrip("/"),
        webhook_url=webhook_url or "",
        owner=owner,
        keep=keep,
    )
    done = asyncio.Event()
    finish = _FinishOnTerminal(settings, done)
    with listening("127.0.0.1", 0) as listener:
        setup = SetupPages(requested, finish, done=done)
        address = f"http://127.0.0.1:{listener.getsockname()[1]}/setup?token={setup.pending.token}"
        click.echo(f"Open {address}", err=True)
        if browse:
            webbrowser.open(address)
        serve_until(setup_app(setup), listener.dup(), done)
    if not done.is_set():
        raise UserError("stopped before an App was registered")
    for line in finish.lines:
        click.echo(line)


class _FinishOnTerminal:
    """Store the App's credentials or collect them for printing; the browser page points back to the terminal."""

    def __init__(self, settings: Settings, done: asyncio.Event) -> None:
        self._settings = settings
        self._done = done
        self.lines: list[str] = []
        """Lines to print on the terminal."""

    async def __call__(self, request: Request, app: NewApp, requested: RequestedApp) -> Response:
        """Handle GitHub's redirect after it created the App."""
        values = values_of(app, requested, self._settings)
        if requested.keep:
            path = store_registration(self._settings.triage_data_dir, values)
            self.lines = [f"{app.slug} is registered; its secrets are in {path}", "Next: triage serve"]
        else:
            self.lines = ["{}={}".format(name.upper(), value.replace("\n", "\\n")) for name, value in values.items()]
        self.lines.append(f"Install it: {installation_address(requested.server_url, app.slug)}")
        self._done.set()
        return made(request, app, requested)
