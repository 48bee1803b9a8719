"""Implement ``triage app create``: serve the setup pages on the loopback interface until the App exists."""

from __future__ import annotations

import asyncio
import webbrowser
from dataclasses import dataclass, replace

import click
from starlette.requests import Request
from starlette.responses import Response

from bot.errors import UserError
from bot.github.registration import NewApp
from bot.server.process import listening, serve_until
from bot.server.registration import FILE, RequestedApp, installation_address, read_registration, store_registration
from bot.server.registration.first_start import defaults_of, values_of
from bot.server.web.pages.setup import Defaults, SetupPages, next_steps, setup_app
from bot.server.web.render import render
from bot.settings import Settings, load_settings


@dataclass(frozen=True, slots=True)
class Answers:
    """The options of the command line."""

    owner: str
    public_url: str | None
    webhook_url: str | None
    server_url: str | None
    name: str | None
    keep: bool


def create_app(answers: Answers, *, browse: bool) -> None:
    """Serve the setup pages until GitHub has created the App; then store or print its credentials.

    Raises:
        UserError: an App is stored already, its credentials cannot be stored, the server's public address is missing,
            or the command was stopped before the App existed.
    """
    settings = load_settings()
    if answers.keep and read_registration(settings.triage_data_dir):
        raise UserError(f"an App exists already, in {settings.triage_data_dir / FILE}: remove it to use another")
    done = asyncio.Event()
    finish = _Finish(settings, done)
    with listening("127.0.0.1", 0) as listener:
        setup = SetupPages(_defaults(settings, answers), finish, done=done)
        address = f"http://127.0.0.1:{listener.getsockname()[1]}/setup?token={setup.pending.token}"
        click.echo(f"Open {address}", err=True)
        if browse:
            webbrowser.open(address)
        serve_until(setup_app(setup), listener.dup(), done)
    if not done.is_set():
        raise UserError("stopped before an App was registered")
    for line in finish.lines:
        click.echo(line)


def _defaults(settings: Settings, answers: Answers) -> Defaults:
    public = answers.public_url or settings.triage_public_url
    if public is None and answers.webhook_url is None:
        raise UserError(
            "give the address at which GitHub reaches the server: --public-url https://…, or TRIAGE_PUBLIC_URL"
        )
    defaults = defaults_of(settings, server_url=answers.server_url, owner=answers.owner, name=answers.name)
    return replace(
        defaults,
        public_url=(public or f"http://127.0.0.1:{settings.port}").rstrip("/"),
        webhook_url=answers.webhook_url or "",
        keep=answers.keep,
    )


class _Finish:
    """Store the App's credentials or collect them for printing; the browser page points back to the terminal."""

    def __init__(self, settings: Settings, done: asyncio.Event) -> None:
        self._settings = settings
        self._done = done
        self.lines: list[str] = []
        """Lines to print on the terminal."""

    async def __call__(self, request: Request, app: NewApp, requested: RequestedApp, api_url: str) -> Response:
        """Handle GitHub's redirect after it created the App."""
        values = values_of(app, requested, api_url, self._settings)
        if requested.keep:
            path = store_registration(self._settings.triage_data_dir, values)
            self.lines = [f"{app.slug} is registered; its secrets are in {path}", "Next: triage serve"]
        else:
            self.lines = ["{}={}".format(name.upper(), value.replace("\n", "\\n")) for name, value in values.items()]
        self.lines.append(f"Install it: {installation_address(requested.server_url, app.slug)}")
        self._done.set()
        return render(request, "setup/made.html", **next_steps(app, requested))
