"""Serve the setup pages until an App exists: at the first start of a server, and for ``triage app create``."""

import logging
import secrets
import socket
import webbrowser
from dataclasses import replace

import click

from bot.errors import UserError
from bot.files import DirectoryLock
from bot.server.process import listening, serve_until
from bot.server.registration import FILE, RequestedApp, api_of, read_registration, registration
from bot.server.web.pages.setup import Pending, SetupPages, setup_app
from bot.settings.environment import Settings, load_settings

logger = logging.getLogger(__name__)


def wait_for_app(settings: Settings, listener: socket.socket) -> bool:
    """Serve the setup pages; return False if the server was stopped before an App was registered."""
    lock = DirectoryLock(settings.triage_data_dir)
    try:
        setup = setup_pages(settings)
        _announce(settings, setup, listener)
        # uvicorn closes its socket when it stops; the caller's listener must survive to serve the App.
        serve_until(setup_app(setup), listener.dup(), setup.done)
        return setup.done.is_set()
    finally:
        lock.release()


def setup_pages(settings: Settings) -> SetupPages:
    """Return the setup pages; those of several servers continue each other's registration and store no secrets."""
    defaults, secret = defaults_of(settings), settings.triage_session_secret
    if secret is None or settings.database_url is None:
        return SetupPages(settings, defaults)
    # The other servers and the workers would not see the file.
    return SetupPages(settings, replace(defaults, keep=False), pending=Pending(secret.get_secret_value().encode()))


def defaults_of(settings: Settings, server_url: str | None = None) -> RequestedApp:
    """Return the initial values of the setup form."""
    server = (server_url or settings.github_server_url).rstrip("/")
    known = "github_api_url" in settings.model_fields_set and server == settings.github_server_url.rstrip("/")
    return RequestedApp(
        server_url=server,
        api_url=settings.github_api_url if known else api_of(server),
        # Very likely unused, because GitHub requires App names to be unique.
        name=f"{registration()['name']}-{secrets.token_hex(3)}",
        public_url=(settings.triage_public_url or "").rstrip("/"),
    )


def _announce(settings: Settings, setup: SetupPages, listener: socket.socket) -> None:
    host, port = listener.getsockname()[:2]
    host = "127.0.0.1" if host in ("0.0.0.0", "::") else f"[{host}]" if ":" in host else host  # noqa: S104
    address = (settings.triage_public_url or f"http://{host}:{port}").rstrip("/")
    page = f"{address}/setup?token={setup.pending.token}"
    logger.info("no App is configured; open %s to register one", page, extra={"action": "setup"})
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
    setup = SetupPages(settings, requested, printed=[])
    with listening("127.0.0.1", 0) as listener:
        address = f"http://127.0.0.1:{listener.getsockname()[1]}/setup?token={setup.pending.token}"
        click.echo(f"Open {address}", err=True)
        if browse:
            webbrowser.open(address)
        serve_until(setup_app(setup), listener.dup(), setup.done)
    if not setup.done.is_set():
        raise UserError("stopped before an App was registered")
    click.echo("\n".join(setup.printed or ()))
