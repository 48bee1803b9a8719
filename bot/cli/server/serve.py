"""``triage serve``: run the GitHub App."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from bot.settings import Settings


@click.command("serve")
@click.option("--host", help="The address to listen on; default: HOST.")
@click.option("--port", type=click.IntRange(0, 65535), help="The port to listen on, 0 for a free one; default: PORT.")
@click.option(
    "--no-worker", is_flag=True, help="Only receive deliveries; `triage worker` runs the jobs. Needs DATABASE_URL."
)
def command(*, host: str | None, port: int | None, no_worker: bool) -> None:
    """Run the GitHub App: receive deliveries at /webhooks/github, triage the issues and post the results.

    If no App is configured, it serves a page that creates one on GitHub; the log has the address. Otherwise it needs
    GITHUB_APP_ID, GITHUB_PRIVATE_KEY (or _PATH) and GITHUB_WEBHOOK_SECRET. Stop it with SIGTERM or Ctrl-C; unfinished
    jobs resume at the next start.
    """
    from bot.errors import UserError
    from bot.observability.logs import log_to_stderr
    from bot.server.process import listening, serve
    from bot.settings.server import NoAppError, load_server_settings

    try:
        settings, has_app = load_server_settings().settings, True
    except NoAppError as error:
        settings, has_app = error.sound, False
    if no_worker and settings.database_url is None:
        raise UserError("--no-worker needs DATABASE_URL: no other process can run the jobs of a data directory")
    log_to_stderr()
    with listening(host or settings.host, settings.port if port is None else port) as listener:
        if has_app or _run_setup(settings, listener):
            serve(load_server_settings(), listener, work=not no_worker)


def _run_setup(settings: Settings, listener: socket.socket) -> bool:
    """Serve the setup pages; return whether an App was registered."""
    from bot.server.registration.first_start import wait_for_app

    return wait_for_app(settings, listener)
