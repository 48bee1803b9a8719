"""``triage serve`` and ``triage worker``: run the GitHub App, or only its jobs."""

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
def serve_command(*, host: str | None, port: int | None, no_worker: bool) -> None:
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


@click.command("worker")
@click.option(
    "--concurrency",
    type=click.IntRange(1, 64),
    help="The number of issues processed at the same time; default: TRIAGE_CONCURRENCY.",
)
def worker_command(*, concurrency: int | None) -> None:
    """Process the jobs in DATABASE_URL's database, together with any number of other workers.

    Needs the settings of `triage serve`, and its own TRIAGE_DATA_DIR for mirrors and parsed files. It logs
    worker_ready once it accepts jobs. Stop it with SIGTERM or Ctrl-C: running jobs have five seconds to finish, and
    other workers continue the rest. After a kill, other workers take over its jobs within ten seconds.
    """
    from bot.errors import UserError
    from bot.observability.logs import log_to_stderr
    from bot.settings.server import load_server_settings
    from bot.worker.dispatch.worker_process import work

    settings = load_server_settings()
    if settings.settings.database_url is None:
        raise UserError("triage worker needs DATABASE_URL: with a data directory, triage serve runs the jobs")
    log_to_stderr()
    work(settings, concurrency=concurrency)
